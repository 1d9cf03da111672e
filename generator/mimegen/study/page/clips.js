"use strict";
// Load clips a few trials ahead, so that they play smoothly.

const TRIALS_AHEAD = 3;

class Clips {
  constructor(jsPsych) {
    this.api = jsPsych.pluginAPI;
    this.loading = new Map();
    // A page opened as a file may not read other files; its clips are not loaded ahead.
    this.asFile = location.protocol === "file:";
  }

  // Resolve to the address of the loaded clip, or of the original if it cannot be loaded ahead.
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
