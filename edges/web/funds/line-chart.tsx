// One line over time. The library draws on a canvas and gets its colours from the page's own; for whoever cannot see it the table has the same.
import { createChart, LineSeries, type UTCTimestamp } from "lightweight-charts";
import { useEffect, useRef } from "react";
import { toUnixMs, tryParse } from "../../../contracts/src/instant.ts";
import { paintedAs } from "../panels/chart-look.ts";

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
    const endPainting = paintedAs(element, ({ page, colour }) => {
      chart.applyOptions(page);
      line.applyOptions({ color: colour("--accent") });
    });
    series.current = { setData: (data) => line.setData(data), fit: () => chart.timeScale().fitContent() };
    return () => {
      endPainting();
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
