"use strict";
// Store answers on the server, which acknowledges what is on its disk, or in this browser.

class Refused extends Error {
  constructor(status, why) {
    super(why);
    this.status = status;
    this.why = why;
  }
}

// Some browsers offer no storage to pages. Then only one thing is lost: a closed tab cannot be resumed.
class Memory {
  constructor(key) {
    this.key = "mimegen-study-" + STUDY.study + key;
  }
  read() {
    try { return JSON.parse(localStorage.getItem(this.key)); } catch { return null; }
  }
  write(value) {
    try { localStorage.setItem(this.key, JSON.stringify(value)); } catch { /* see above */ }
  }
  forget() {
    try { localStorage.removeItem(this.key); } catch { /* see above */ }
  }
}
const memory = new Memory("");

// A trial that was shown and is not answered: whose it is, how often its clips were shown again, and
// its answers so far. Reloading the page must neither hide a showing nor ask a task a second time.
const unfinished = {
  memory: new Memory("-trial"),
  of(trial, who) {
    const begun = this.memory.read();
    return begun && begun.trial === trial && begun.who === who
      ? { ...begun, replays: begun.replays + 1 } : { trial, who, replays: 0, left: 0, answers: {} };
  },
  keep(begun) { this.memory.write(begun); },
  forget() { this.memory.forget(); },
};

function idsFromAddress() {
  const given = new URLSearchParams(location.search);
  const ids = {};
  for (const name of ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "survey_code", "participant"]) {
    const value = given.get(name);
    if (value) ids[name] = value;
  }
  return ids;
}

// Throw if an id could not be stored: without it, nobody would know whose answers these are.
function checkedIds() {
  const ids = idsFromAddress();
  if (!Object.values(ids).every(value => /^[A-Za-z0-9._~-]{1,128}$/.test(value))) {
    throw new Refused(400, "ids");
  }
  return ids;
}

class ServerKeeping {
  // ``tell`` is called with true while answers wait for the server.
  constructor(tell) {
    this.tell = tell;
  }

  async resume() {
    const remembered = memory.read();
    // Another person may use the same browser.
    const person = JSON.stringify(idsFromAddress());
    if (!remembered || (person !== "{}" && person !== remembered.person)) return null;
    try {
      return this.taken(await this.post("session", { session: remembered.session }));
    } catch (problem) {
      if (!(problem instanceof Refused) || problem.status !== 404) throw problem;
      memory.forget();
      return null;
    }
  }

  async begin() {
    const screen = { width: innerWidth, height: innerHeight,
                     touch: matchMedia("(pointer: coarse)").matches };
    const ids = checkedIds();
    const state = this.taken(await this.post("session", { ids, screen }));
    memory.write({ session: state.session, person: JSON.stringify(ids) });
    return state;
  }

  taken(state) {
    this.session = this.who = state.session;
    return state;
  }

  store(trial, response) {
    return this.post("answer", { session: this.session, trial, response });
  }

  finish() {
    return this.post("finish", { session: this.session });
  }

  // Retry until there is a reply. The server keeps a trial's first answer, so sending twice does no harm.
  async post(what, content) {
    for (let wait = 1; ; wait = Math.min(2 * wait, 15)) {
      const reply = await fetch("api/" + what, {
        method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify(content),
      }).catch(() => null);
      if (reply && reply.ok) {
        const said = await reply.json().catch(() => null);
        if (said) {
          this.tell(false);
          return said;
        }
      } else if (reply && reply.status < 500 && ![408, 429].includes(reply.status)) {
        this.tell(false);
        throw new Refused(reply.status, await reply.text());
      }
      const asked = Number(reply && reply.headers.get("retry-after")) || 0;
      this.tell(true);
      await new Promise(resolve => setTimeout(resolve, 1000 * Math.max(wait, asked)));
    }
  }
}

class BrowserKeeping {
  // Another person may use the same browser, so what is kept for an id has a place of its own.
  constructor() {
    const person = JSON.stringify(idsFromAddress());
    this.memory = person === "{}" ? memory : new Memory(person);
  }

  async resume() {
    this.kept = this.memory.read();
    return this.kept && this.state();
  }

  async begin() {
    const wanted = Number(new URLSearchParams(location.search).get("list"));
    const list = Number.isInteger(wanted) && wanted > 0 && wanted <= STUDY.lists.length
      ? wanted - 1 : below(STUDY.lists.length);
    this.kept = { study: STUDY.study, rater: "rater-" + hex(4), ids: checkedIds(),
                  order: [...STUDY.practice, ...shuffled(STUDY.lists[list])], answers: {} };
    this.memory.write(this.kept);
    return this.state();
  }

  state() {
    this.who = this.kept.rater;
    return { trials: this.kept.order.map(name => STUDY.trials[name]),
             answered: Object.keys(this.kept.answers) };
  }

  async store(trial, response) {
    this.kept.answers[trial] = response;
    this.memory.write(this.kept);
  }

  async finish() {
    let { address, code } = STUDY.completion;
    for (const [name, value] of Object.entries(this.kept.ids)) {
      address = address && address.replaceAll("{" + name + "}", encodeURIComponent(value));
    }
    return { address, code, file: this.kept };
  }
}

function hex(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map(byte => byte.toString(16).padStart(2, "0")).join("");
}

function below(count) {
  return Math.floor(Math.random() * count);
}

function shuffled(names) {
  const order = [...names];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}
