// One line over time. The library draws on a canvas and gets its colours from the page's own; for whoever cannot see it the table has the same.
import { createChart, LineSeries, type UTCTimestamp } from "lightweight-charts";
import { useEffect, useRef } from "react";
import { toUnixMs, tryParse } from "../../../contracts/src/instant.ts";

interface Point {
  readonly as_of: string;
  readonly value: number;
}

/** In whole seconds and strictly growing, as the library has it. */
function dataOf(points: readonly Point[]) {
  const found: { time: UTCTimestamp; value: number }[] = [];
  for (const { as_of, value } of points) {
    const at = tryParse(as_of);
    if (at === undefined) continue;
    const time = Math.floor(toUnixMs(at) / 1_000) as UTCTimestamp;
    if (found.at(-1)?.time === time) found.pop();
    found.push({ time, value });
  }
  return found;
}

const themes = ["(prefers-color-scheme: dark)", "print"];

/** The library draws on a canvas and knows no style sheet: it gets the page's colours. */
function coloursOf(element: HTMLElement) {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const hair = colour("--hair");
  return {
    line: colour("--accent"),
    page: {
      layout: {
        background: { color: colour("--panel") },
        textColor: colour("--quiet"),
        fontFamily: "Inter, sans-serif",
        fontSize: 12,
      },
      grid: { vertLines: { visible: false }, horzLines: { color: hair } },
      timeScale: { borderColor: hair },
      rightPriceScale: { borderColor: hair },
    },
  };
}

export function LineChart({
  label,
  points,
  height,
}: {
  readonly label: string;
  readonly points: readonly Point[];
  readonly height: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const series = useRef<{ setData(data: ReturnType<typeof dataOf>): void; fit(): void }>(undefined);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = createChart(element, {
      height,
      autoSize: true,
      // From the beginning: the logo brings a style with it, which the page's policy forbids.
      layout: { attributionLogo: false },
      localization: { locale: "en-US" },
      timeScale: { timeVisible: true },
      handleScroll: false,
      handleScale: false,
    });
    const line = chart.addSeries(LineSeries, {
      lineWidth: 2,
      priceLineVisible: false,
      // It would cover the figures of the scale; the last value stands above the chart.
      lastValueVisible: false,
    });
    const paint = (): void => {
      const { page, line: colour } = coloursOf(element);
      chart.applyOptions(page);
      line.applyOptions({ color: colour });
    };
    paint();
    // The page may change its colours while it is open: by day and night, and for paper.
    const media = themes.map((one) => window.matchMedia(one));
    for (const one of media) one.addEventListener("change", paint);
    series.current = { setData: (data) => line.setData(data), fit: () => chart.timeScale().fitContent() };
    return () => {
      for (const one of media) one.removeEventListener("change", paint);
      series.current = undefined;
      chart.remove();
    };
  }, [height]);
  useEffect(() => {
    series.current?.setData(dataOf(points));
    series.current?.fit();
  }, [points]);
  return (
    <figure className="chart">
      <figcaption>{label}</figcaption>
      <div ref={place} style={{ height }} aria-hidden="true" />
    </figure>
  );
}
