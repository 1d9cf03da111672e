"use strict";
// A jsPsych plugin that shows one or more clips once in full, then asks one task after another.

const clipTrialInfo = {
  name: "clip-trial",
  version: "1.0.0",
  parameters: {
    // A trial from the study's data: id, tasks, ask, clips, options.
    asked: { type: jsPsychModule.ParameterType.OBJECT },
    clips: { type: jsPsychModule.ParameterType.OBJECT },
    // The name of the person's session.
    who: { type: jsPsychModule.ParameterType.STRING },
    note: { type: jsPsychModule.ParameterType.HTML_STRING, default: "" },
  },
  data: { response: { type: jsPsychModule.ParameterType.OBJECT } },
};

class ClipTrial {
  static info = clipTrialInfo;

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  async trial(display, parameters) {
    this.asked = parameters.asked;
    this.clips = parameters.clips;
    this.begun = unfinished.of(this.asked.id, parameters.who);
    unfinished.keep(this.begun);
    this.listening = new AbortController();
    this.on(document, "visibilitychange", () => {
      this.begun.left += document.hidden;
      unfinished.keep(this.begun);
    });
    display.innerHTML = trialHtml(parameters.note);
    this.video = display.querySelector("video");
    this.form = display.querySelector("form");
    this.note = display.querySelector(".note");
    this.loading = display.querySelector(".loading");
    this.playButton = display.querySelector(".play");
    this.replayButton = display.querySelector(".replay");
    this.replayButton.hidden = STUDY.speeded;
    this.on(this.replayButton, "click", () => this.replay());
    this.on(document, "keydown", event => this.key(event));
    const answers = STUDY.speeded ? await this.speededAnswers()
      : await this.shown() && await this.answers();
    const response = answers ? { answers, ...this.size() } : { answers: {}, broken: true };
    this.listening.abort();
    this.video.pause();
    return { response: { ...response, left: this.begun.left } };
  }

  on(target, kind, handle) {
    target.addEventListener(kind, handle, { signal: this.listening.signal });
  }

  // The size in CSS pixels at which the picture is seen, and the screen's pixels for each of these.
  size() {
    const { clientWidth, clientHeight, videoWidth, videoHeight } = this.video;
    const scale = Math.min(clientWidth / videoWidth, clientHeight / videoHeight);
    return { shown_width: Math.round(scale * videoWidth * 10) / 10,
             shown_height: Math.round(scale * videoHeight * 10) / 10,
             pixel_ratio: devicePixelRatio };
  }

  // Show all clips; return false if one cannot be shown and the person goes on without it.
  async shown() {
    for (;;) {
      try {
        await this.showing();
        return true;
      } catch {
        if (!await this.triesAgain()) return false;
      }
    }
  }

  async showing() {
    const note = this.note.innerHTML;
    this.replayButton.disabled = true;
    for (const [place, clip] of this.asked.clips.entries()) {
      if (this.asked.clips.length > 1) {
        this.note.innerHTML = this.nameOf(place);
      }
      await this.playOnce(await this.clips.load(clip));
    }
    this.note.innerHTML = note;
    this.replayButton.disabled = STUDY.replays !== null && this.begun.replays >= STUDY.replays;
  }

  nameOf(place) {
    if (this.asked.clips.length > 2) return STUDY.words.clip.replace("{number}", place + 1);
    return place ? STUDY.words.second : STUDY.words.first;
  }

  playOnce(address) {
    this.loading.hidden = false;
    return new Promise((resolve, reject) => {
      this.video.onended = resolve;
      this.video.onerror = reject;
      this.video.onplaying = () => { this.loading.hidden = true; };
      // Load it again, because this rewinds it in all browsers.
      this.video.src = address;
      this.video.play().catch(problem => {
        if (problem.name === "NotAllowedError") this.playsWhenAsked();
      });
    });
  }

  // Browsers in power-saving mode do not start videos by themselves: show a play button.
  playsWhenAsked() {
    this.loading.hidden = true;
    this.playButton.hidden = false;
    this.playButton.focus({ preventScroll: true });
    this.playButton.onclick = () => {
      this.playButton.hidden = true;
      this.video.play();
    };
  }

  triesAgain() {
    this.loading.hidden = true;
    this.form.innerHTML = `<p>${STUDY.words.broken}</p><p class="buttons">
      <button type="button" class="again">${STUDY.words.play}</button>
      <button type="button" class="skip">${STUDY.words.skip}</button></p>`;
    return new Promise(resolve => {
      const said = again => () => {
        this.form.innerHTML = "";
        resolve(again);
      };
      this.form.querySelector(".again").onclick = said(true);
      this.form.querySelector(".skip").onclick = said(false);
    });
  }

  replay() {
    if (this.replayButton.disabled) return;
    this.begun.replays += 1;
    unfinished.keep(this.begun);
    this.showing().catch(() => { this.replayButton.disabled = false; });
  }

  async answers() {
    const { answers } = this.begun;
    for (const task of this.asked.tasks) {
      if (task in answers) continue;
      answers[task] = await this.ask(task);
      unfinished.keep(this.begun);
    }
    return answers;
  }

  // Ask the only task while the clip plays; return false if the clip cannot be shown.
  async speededAnswers() {
    const [task] = this.asked.tasks;
    for (;;) {
      try {
        const began = await this.firstFrame(await this.clips.load(this.asked.clips[0]));
        return { [task]: await this.ask(task, began) };
      } catch {
        if (!await this.triesAgain()) return false;
      }
    }
  }

  // Play a clip; resolve to the time at which its first frame is seen.
  firstFrame(address) {
    return new Promise((resolve, reject) => {
      this.playOnce(address).catch(reject);
      if (this.video.requestVideoFrameCallback) {
        this.video.requestVideoFrameCallback((now, frame) => resolve(frame.expectedDisplayTime));
      } else {
        this.video.addEventListener("playing", () => resolve(performance.now()), { once: true });
      }
    });
  }

  // Ask one task; the form's Continue button or the time limit ends it, in a speeded study the
  // first choice. Times count from ``began``.
  ask(task, began = performance.now()) {
    const kind = TASKS[task];
    this.form.className = "task " + task;
    this.form.innerHTML = `<h1 id="asked">${this.asked.ask[task]}</h1>` + kind.html(this.asked)
      + `<p class="buttons"><span class="time-left" role="timer" hidden></span>
         <button class="go">${STUDY.words.continue} <kbd>Enter</kbd></button></p>`;
    const go = this.form.querySelector(".go");
    const enable = () => { go.disabled = !kind.done(this.form); };
    const passed = () => Math.max(Math.round(performance.now() - began), 0);
    const inputs = { first_input_ms: null, last_input_ms: null };
    enable();
    go.hidden = STUDY.speeded;
    this.form.oninput = () => {
      inputs.last_input_ms = passed();
      inputs.first_input_ms ??= inputs.last_input_ms;
      enable();
      if (STUDY.speeded) this.form.requestSubmit();
    };
    kind.start?.(this.form, enable);
    return new Promise(resolve => {
      const end = timedOut => {
        clearInterval(clock);
        this.form.onsubmit = event => event.preventDefault();
        resolve({ ...kind.read(this.form), rt_ms: passed(), ...inputs,
                  replays: this.begun.replays, timed_out: timedOut });
      };
      const clock = this.clock(STUDY.time_limit_s[task], began, () => end(true));
      this.form.onsubmit = event => {
        event.preventDefault();
        if (kind.done(this.form)) end(false);
      };
    });
  }

  // Show the last seconds of the time limit, and call ``over`` at its end.
  clock(limit, began, over) {
    if (limit == null) return 0;
    const shown = this.form.querySelector(".time-left");
    return setInterval(() => {
      const left = limit - (performance.now() - began) / 1000;
      shown.hidden = left > 15;
      shown.textContent = `${STUDY.words.time_left}: ${Math.max(Math.ceil(left), 0)} s`;
      if (left <= 0) over();
    }, 250);
  }

  // Shortcut keys, unless text is being typed.
  key(event) {
    const target = event.target;
    const typing = target.matches?.("input[type=text]");
    if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const option = this.form.querySelector(`input[type=radio][data-key="${event.key}"]`);
    if (option) {
      option.checked = true;
      option.focus({ preventScroll: true });
      this.form.dispatchEvent(new Event("input"));
    } else if (event.key.toLowerCase() === "r") {
      this.replay();
    } else if (event.key === "Enter" && !target.matches?.("button, input[type=radio]")) {
      this.form.querySelector(".go:enabled")?.click();
    } else {
      return;
    }
    event.preventDefault();
  }
}

function trialHtml(note) {
  return `<div class="trial"><div class="watch"><p class="note">${note}</p>
    <div class="screen"><video muted playsinline disablepictureinpicture tabindex="-1"></video>
    <p class="loading" role="status">${STUDY.words.loading}</p>
    <button type="button" class="play" hidden>${STUDY.words.play}</button></div>
    <p class="under"><button type="button" class="replay" disabled>${STUDY.words.replay}
    <kbd>R</kbd></button></p></div><form class="task" novalidate></form></div>`;
}

// Each task: its fields as HTML, whether they are filled in, and their values.
const CHOICE = {
  html: asked => `<div role="radiogroup" aria-labelledby="asked" class="options">` + asked.options
    .map((option, place) => `<label><input type="radio" name="option" value="${place}"
      data-key="${place + 1}"><kbd>${place + 1}</kbd><span>${escaped(option)}</span></label>`)
    .join("") + "</div>",
  done: form => Boolean(form.querySelector("input:checked")),
  read: form => {
    const chosen = form.querySelector("input:checked");
    return chosen ? { option: Number(chosen.value) } : {};
  },
};
const TASKS = {
  free: {
    html: () => `<input type="text" maxlength="500" autocomplete="off" spellcheck="true"
      enterkeyhint="next" aria-labelledby="asked">`,
    start: form => form.querySelector("input").focus({ preventScroll: true }),
    done: form => form.querySelector("input").value.trim() !== "",
    read: form => ({ text: form.querySelector("input").value.trim() }),
  },
  choice: CHOICE,
  same: CHOICE,
  ratings: {
    html: () => `<p class="hint">${STUDY.hint}</p><div class="sliders">` + STUDY.sliders.map(slider => `<label class="slider">
      <span>${slider.ask}</span>
      <input type="range" min="0" max="100" step="1" value="50" name="${slider.name}"
      class="untouched"><small><i>${slider.low}</i><i>${slider.high}</i></small></label>`).join("")
      + "</div>",
    // A slider counts as set once it was moved, or clicked where it is.
    start: (form, enable) => {
      const touch = event => {
        if (event.type === "keyup" && ["Tab", "Shift"].includes(event.key)) return;
        event.target.classList.remove("untouched");
        enable();
      };
      for (const slider of form.querySelectorAll("input")) {
        for (const kind of ["input", "pointerup", "keyup"]) slider.addEventListener(kind, touch);
      }
    },
    done: form => !form.querySelector(".untouched"),
    read: form => ({ ratings: Object.fromEntries(
      [...form.querySelectorAll("input:not(.untouched)")].map(one => [one.name, Number(one.value)])) }),
  },
};

function escaped(text) {
  const place = document.createElement("span");
  place.textContent = text;
  return place.innerHTML;
}
