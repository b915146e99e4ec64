// Light or dark: what was chosen here, else what the system prefers. Runs before the page is drawn, so that it does not flash.
(function () {
  "use strict";
  var root = document.documentElement;
  var chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch (error) { chosen = null; }
  if (chosen === "light" || chosen === "dark") { root.dataset.theme = chosen; }

  document.addEventListener("DOMContentLoaded", function () {
    var menu = document.getElementById("menu");
    var wide = window.matchMedia("(min-width: 861px)");
    function fit() { if (menu) { menu.open = wide.matches; } }
    fit();
    wide.addEventListener("change", fit);
    var button = document.getElementById("theme");
    if (!button) { return; }
    button.addEventListener("click", function () {
      var isDark = root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = isDark ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch (error) { /* private window: it lasts as long as the page */ }
      document.dispatchEvent(new Event("theme"));
    });
  });
})();
