// Draws the figures behind each .chart with uPlot: { times: [ms], unit, series: [{ name, values }] }.
(function () {
  "use strict";
  var COLORS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
  var plots = new Map();

  function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function short(value, unit) {
    if (value === null || value === undefined) { return "–"; }
    if (unit === "ms") { return value < 1000 ? Math.round(value) + " ms" : value < 60000 ? (value / 1000).toFixed(1) + " s" : (value / 60000).toFixed(1) + " min"; }
    var steps = unit.charAt(0) === "B" ? [["GiB", 1073741824], ["MiB", 1048576], ["KiB", 1024]] : [["G", 1e9], ["M", 1e6], ["k", 1e4]];
    for (var i = 0; i < steps.length; i++) {
      if (Math.abs(value) >= steps[i][1]) { return (value / (steps[i][0] === "k" ? 1000 : steps[i][1])).toFixed(1) + " " + steps[i][0]; }
    }
    return value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : value.toFixed(1);
  }

  function two(number) { return (number < 10 ? "0" : "") + number; }

  function clock(seconds, span) {
    var at = new Date(seconds * 1000);
    var day = (at.getUTCMonth() + 1) + "-" + two(at.getUTCDate()) + " ";
    return (span > 86400 ? day : "") + two(at.getUTCHours()) + ":" + two(at.getUTCMinutes()) + (span < 600 ? ":" + two(at.getUTCSeconds()) : "");
  }

  function options(figure, told, width) {
    var unit = told.unit || "";
    var grid = { stroke: style("--line"), width: 1 };
    var axis = { stroke: style("--muted"), grid: grid, ticks: grid, font: "11px " + style("--sans") };
    return {
      width: width,
      height: figure.classList.contains("tall") ? 320 : 190,
      tzDate: function (seconds) { return uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"); },
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      legend: { live: true, show: told.series.length <= 12 },
      scales: { y: { range: function (plot, low, high) { return [Math.min(0, low || 0), high > 0 ? high * 1.08 : 1]; } } },
      axes: [
        Object.assign({
          space: 70,
          values: function (plot, values) { return values.map(function (each) { return clock(each, plot.scales.x.max - plot.scales.x.min); }); }
        }, axis),
        Object.assign({ size: 62, values: function (plot, values) { return values.map(function (each) { return short(each, unit); }); } }, axis)
      ],
      hooks: { ready: [function (plot) { plot.setLegend({ idx: told.times.length - 1 }); }] }, // the latest, as long as nobody points at another
      series: [{ label: "at", value: function (plot, value) { return value === null ? "–" : clock(value, 0); } }].concat(told.series.map(function (each, number) {
        var color = style(COLORS[number % COLORS.length]);
        return {
          label: each.name, stroke: color, width: 1.6, spanGaps: true, points: { show: false },
          fill: told.series.length === 1 ? color + "22" : undefined,
          value: function (plot, value) { return short(value, unit); }
        };
      }))
    };
  }

  function draw(figure) {
    fetch(figure.dataset.chart).then(function (answer) {
      if (!answer.ok) { throw new Error(answer.statusText); }
      return answer.json();
    }).then(function (told) { show(figure, told); }).catch(function () { figure.dataset.state = "failed"; });
  }

  function show(figure, told) {
    var place = figure.querySelector(".plot");
    var known = plots.get(figure);
    if (known) { known.plot.destroy(); plots.delete(figure); }
    place.textContent = "";
    if (!told.series.length || !told.times.length) {
      var empty = document.createElement("p");
      empty.className = "empty";
      empty.textContent = told.empty || "Nothing was measured in this time.";
      place.append(empty);
      figure.dataset.state = "empty";
      return;
    }
    var data = [told.times.map(function (ms) { return ms / 1000; })].concat(told.series.map(function (each) { return each.values; }));
    var plot = new uPlot(options(figure, told, place.clientWidth || 600), data, place);
    plot.over.addEventListener("mouseleave", function () { plot.setLegend({ idx: data[0].length - 1 }); });
    plots.set(figure, { plot: plot, told: told });
    figure.dataset.state = "drawn";
  }

  function all() { return Array.from(document.querySelectorAll(".chart")); }
  // Over a copy: `show` puts each figure into the map anew, where forEach would meet it again.
  function redraw() { Array.from(plots).forEach(function (each) { show(each[0], each[1].told); }); }

  all().forEach(draw);
  document.addEventListener("fresh", function () { all().filter(function (each) { return !plots.has(each) && !each.dataset.state; }).forEach(draw); });
  document.addEventListener("change-seen", function (event) {
    if (event.detail.indexOf("samples") >= 0 && !document.hidden) {
      all().filter(function (each) { return !each.querySelector(".u-over:hover"); }).forEach(draw);
    }
  });
  document.addEventListener("theme", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  var timer = null;
  window.addEventListener("resize", function () { clearTimeout(timer); timer = setTimeout(redraw, 150); });
})();
