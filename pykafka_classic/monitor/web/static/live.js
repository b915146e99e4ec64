// Keeps a page up to date: when the server says that something is new, the same page is asked for again, and what differs is put in.
(function () {
  "use strict";
  var main = document.querySelector("main[data-live]");
  var source = document.body.dataset.events;
  var sign = document.getElementById("live");
  var PAUSE_MS = 700; // at least so long between two looks, so that a storm of changes costs little
  var wanted = false, busy = false, last = 0, timer = null;

  function say(word, kind) {
    if (!sign) { return; }
    sign.hidden = false;
    sign.textContent = word;
    sign.className = "live " + kind;
  }

  function soon() {
    wanted = main.hasAttribute("data-live");
    if (!wanted || busy || timer || document.hidden) { return; }
    timer = setTimeout(look, Math.max(0, last + PAUSE_MS - Date.now()));
  }

  function look() {
    timer = null; wanted = false; busy = true; last = Date.now();
    fetch(location.href, { headers: { "X-Live": "1" }, redirect: "error" }).then(function (answer) {
      if (answer.status === 404) {
        main.removeAttribute("data-live");
        say("what this page is about is no longer there", "gone");
        return null;
      }
      if (!answer.ok) { throw new Error(answer.statusText); }
      return answer.text();
    }).then(function (text) {
      if (text === null) { return; }
      put(new DOMParser().parseFromString(text, "text/html"));
      say("live", "up");
    }).catch(function (error) {
      console.warn("The page could not be brought up to date:", error);
      say("not up to date: the monitor does not answer", "gone");
    }).finally(function () {
      busy = false;
      if (wanted) { soon(); }
    });
  }

  function put(fresh) {
    var now = fresh.querySelector("main");
    if (!now) { return; }
    Idiomorph.morph(main, now, {
      ignoreActiveValue: true,
      callbacks: {
        beforeNodeMorphed: function (old) { return !(old.matches && old.matches("[data-keep]")); },
        beforeNodeRemoved: function (old) { return !(old.matches && old.matches("[data-keep]")); },
        beforeAttributeUpdated: function (name, node) { return !(name === "open" && node.tagName === "DETAILS"); }
      }
    });
    var menu = document.querySelector(".sections"), fresher = fresh.querySelector(".sections");
    if (menu && fresher) { Idiomorph.morph(menu, fresher); }
    document.dispatchEvent(new Event("fresh"));
    goOn();
  }

  // What is under way is looked at again by itself.
  function goOn() { if (main && main.querySelector("[data-again]")) { setTimeout(soon, PAUSE_MS); } }

  goOn();

  if (source && "EventSource" in window) {
    var events = new EventSource(source);
    var opened = false;
    events.addEventListener("open", function () {
      say("live", "up");
      if (opened && main) { soon(); } // what happened while the connection was gone
      opened = true;
    });
    events.addEventListener("error", function () { say("the monitor does not answer; trying again", "gone"); });
    events.addEventListener("change", function (event) {
      var kinds = JSON.parse(event.data);
      document.dispatchEvent(new CustomEvent("change-seen", { detail: kinds }));
      if (main) { soon(); }
    });
    document.addEventListener("visibilitychange", function () { if (!document.hidden && wanted) { soon(); } });
    window.addEventListener("pagehide", function () { events.close(); });
    window.addEventListener("pageshow", function (event) { if (event.persisted) { location.reload(); } });
  }

  // Forms that ask before they do something that cannot be undone.
  document.addEventListener("submit", function (event) {
    var question = event.target.dataset && event.target.dataset.confirm;
    if (question && !window.confirm(question)) { event.preventDefault(); }
  });
})();
