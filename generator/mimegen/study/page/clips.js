"use strict";
// Loads clips before they are shown, a few trials ahead, so that none stutters.

const TRIALS_AHEAD = 3;

class Clips {
  constructor(jsPsych) {
    this.api = jsPsych.pluginAPI;
    this.loading = new Map();
    // Pages that were opened as a file may not read other files; their clips play as they are.
    this.asFile = location.protocol === "file:";
  }

  // Resolves to an address of the loaded clip; of the clip itself where it cannot be loaded ahead.
  load(clip) {
    if (!this.loading.has(clip)) {
      this.loading.set(clip, new Promise(resolve => {
        if (this.asFile) return resolve(clip);
        const loaded = () => resolve(this.api.getVideoBuffer(clip));
        this.api.preloadVideo([clip], loaded, () => {}, () => resolve(clip));
      }));
    }
    return this.loading.get(clip);
  }

  ahead(trials) {
    for (const trial of trials.slice(0, TRIALS_AHEAD)) trial.clips.forEach(clip => this.load(clip));
  }
}
