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
const memory = {
  key: "mimegen-study-" + STUDY.study,
  read() {
    try { return JSON.parse(localStorage.getItem(this.key)); } catch { return null; }
  },
  write(value) {
    try { localStorage.setItem(this.key, JSON.stringify(value)); } catch { /* see above */ }
  },
  forget() {
    try { localStorage.removeItem(this.key); } catch { /* see above */ }
  },
};

function idsFromAddress() {
  const given = new URLSearchParams(location.search);
  const ids = {};
  for (const name of ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "survey_code", "participant"]) {
    const value = given.get(name);
    if (value && /^[A-Za-z0-9._~-]{1,128}$/.test(value)) ids[name] = value;
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
    const ids = idsFromAddress();
    const state = this.taken(await this.post("session", { ids, screen }));
    memory.write({ session: state.session, person: JSON.stringify(ids) });
    return state;
  }

  taken(state) {
    this.session = state.session;
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
  async resume() {
    this.kept = memory.read();
    return this.kept && this.state();
  }

  async begin() {
    const wanted = Number(new URLSearchParams(location.search).get("list"));
    const list = Number.isInteger(wanted) && wanted > 0 && wanted <= STUDY.lists.length
      ? wanted - 1 : below(STUDY.lists.length);
    this.kept = { study: STUDY.study, rater: "rater-" + hex(4), ids: idsFromAddress(),
                  order: [...STUDY.practice, ...shuffled(STUDY.lists[list])], answers: {} };
    memory.write(this.kept);
    return this.state();
  }

  state() {
    return { trials: this.kept.order.map(name => STUDY.trials[name]),
             answered: Object.keys(this.kept.answers) };
  }

  async store(trial, response) {
    this.kept.answers[trial] = response;
    memory.write(this.kept);
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
