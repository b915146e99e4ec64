// The timeline's slider: shows the cluster at the second that it stands on, and plays on from there.
(function () {
  "use strict";
  var form = document.getElementById("replay");
  if (!form) { return; }
  var slider = form.elements.at, told = document.getElementById("replay-at"), play = document.getElementById("play");
  var STEP_MS = 1000, FRAME_MS = 350;
  var asked = 0, timer = null, waiting = false, again = false;

  function two(number) { return (number < 10 ? "0" : "") + number; }
  function word(ms) {
    var at = new Date(ms);
    return at.getUTCFullYear() + "-" + two(at.getUTCMonth() + 1) + "-" + two(at.getUTCDate()) + " " +
      two(at.getUTCHours()) + ":" + two(at.getUTCMinutes()) + ":" + two(at.getUTCSeconds());
  }

  function show() {
    told.textContent = word(Number(slider.value));
    if (waiting) { again = true; return; }
    waiting = true;
    var mine = ++asked;
    var address = new URL(location.href);
    address.searchParams.set("at", slider.value);
    address.searchParams.set("since", slider.min);
    fetch(address, { headers: { "X-Live": "1" } }).then(function (answer) { return answer.text(); }).then(function (text) {
      if (mine !== asked) { return; }
      var fresh = new DOMParser().parseFromString(text, "text/html");
      ["state", "h-state"].forEach(function (id) {
        var now = fresh.getElementById(id), old = document.getElementById(id);
        if (now && old) { Idiomorph.morph(old, now); }
      });
      document.dispatchEvent(new CustomEvent("replayed", { detail: Number(slider.value) }));
    }).finally(function () {
      waiting = false;
      if (again) { again = false; show(); }
    });
  }

  function stop() { clearInterval(timer); timer = null; play.textContent = "Play"; }

  function step() {
    var next = Number(slider.value) + STEP_MS;
    if (next > Number(slider.max)) { stop(); return; }
    slider.value = next;
    show();
  }

  play.textContent = "Play";
  slider.addEventListener("input", function () { form.closest("[data-replay]").setAttribute("data-keep", ""); show(); });
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    form.closest("[data-replay]").setAttribute("data-keep", "");
    if (timer) { stop(); return; }
    if (Number(slider.value) >= Number(slider.max)) { slider.value = slider.min; }
    play.textContent = "Pause";
    timer = setInterval(step, FRAME_MS);
  });
})();
