"use strict";
// Run a study: consent, instructions, trials and end, continuing where it stopped.

const place = document.getElementById("study");
const notice = document.getElementById("notice");

function tell(waiting) {
  notice.innerHTML = STUDY.words.offline;
  notice.hidden = !waiting;
}

// Run a timeline in a new jsPsych.
function run(timeline, options = {}) {
  place.innerHTML = "";
  const jsPsych = initJsPsych({ display_element: place, ...options });
  return jsPsych.run(timeline(jsPsych));
}

function button(html, label) {
  return {
    type: jsPsychHtmlButtonResponse, stimulus: `<div class="text">${html}</div>`,
    choices: [label], on_load: focusOnButton,
  };
}

function focusOnButton() {
  place.querySelector("button:last-of-type")?.focus({ preventScroll: true });
}

function consent() {
  return run(() => [{ ...button(`<h1>${STUDY.title}</h1>${STUDY.consent}`, STUDY.agree),
                      on_load: () => {} }]);
}

function instructions() {
  if (!STUDY.instructions.length) return null;
  return run(() => [{
    type: jsPsychInstructions, pages: STUDY.instructions.map(page => `<div class="text">${page}</div>`),
    show_clickable_nav: true, button_label_next: STUDY.words.next,
    button_label_previous: STUDY.words.back, on_load: focusOnNext, on_page_change: focusOnNext,
  }]);
}

function focusOnNext() {
  document.getElementById("jspsych-instructions-next")?.focus({ preventScroll: true });
}

// Show the unanswered trials; continue after each one once its answer is stored.
function trials(state, keeping) {
  const answered = new Set(state.answered);
  const left = state.trials.filter(trial => !answered.has(trial.id));
  if (!left.length) return null;
  let jsPsych;
  const progress = () => { jsPsych.progressBar.progress = answered.size / state.trials.length; };
  const keep = async data => {
    await keeping.store(data.trial, data.response);
    unfinished.forget();
    answered.add(data.trial);
    progress();
  };
  return run(made => {
    jsPsych = made;
    const clips = new Clips(jsPsych);
    return left.flatMap((trial, number) => trialWithNotes(trial, left[number - 1], {
      clips,
      who: keeping.who,
      on_start: () => {
        progress();
        clips.ahead(left.slice(number));
      },
      on_finish: keep,
    }));
  }, { show_progress_bar: true, auto_update_progress_bar: false,
       message_progress_bar: STUDY.words.progress });
}

function trialWithNotes(trial, before, events) {
  const shown = { type: ClipTrial, asked: trial, data: { trial: trial.id },
                  note: trial.practice ? STUDY.practice_note : "", ...events };
  const over = before?.practice && !trial.practice;
  return over ? [button(`<p>${STUDY.practice_over}</p>`, STUDY.words.next), shown] : [shown];
}

function end({ address, code, file }) {
  const parts = [`<p>${file ? STUDY.end_saved : STUDY.end}</p>`];
  if (file) parts.push(`<p><a class="button save" download="answers-${file.rater}.json"
    href="${URL.createObjectURL(new Blob([JSON.stringify(file)], { type: "application/json" }))}"
    >${STUDY.words.save}</a></p>`);
  if (code) parts.push(`<p class="code">${escaped(code)}</p>`);
  if (address) parts.push(`<p><a class="button finish" rel="noreferrer"
    href="${escaped(address)}">${STUDY.words.finish}</a></p>`);
  say(parts.join(""));
}

function say(html) {
  place.innerHTML = `<div class="jspsych-content-wrapper"><div class="jspsych-content"><div
    class="text">${html}</div></div></div>`;
  place.querySelector("a")?.focus({ preventScroll: true });
}

async function main() {
  const title = document.createElement("div");
  title.innerHTML = STUDY.title;
  document.title = title.textContent;
  const keeping = STUDY.served ? new ServerKeeping(tell) : new BrowserKeeping();
  let state = await keeping.resume();
  if (!state) {
    await consent();
    state = await keeping.begin();
    if (!state.answered.length) await instructions();
  } else if (state.answered.length < state.trials.length) {
    await run(() => [button(`<p>${STUDY.welcome_back}</p>`, STUDY.words.continue)]);
  }
  await trials(state, keeping);
  end(await keeping.finish());
}

main().catch(problem => {
  const said = { full: STUDY.full, begun: STUDY.words.begun, ids: STUDY.words.wrong_id };
  say(`<p>${(problem instanceof Refused && said[problem.why]) || STUDY.words.lost}</p>`);
  console.error(problem);
});
