// Candles with what we did on them. The library draws on a canvas; for whoever cannot see it the table has the same. The view is the reader's: it is dragged
// and zoomed, and stays where it is when the clock goes back.
import {
  type CandlestickData,
  CandlestickSeries,
  type CandlestickSeriesOptions,
  createChart,
  createSeriesMarkers,
  createTextWatermark,
  type SeriesMarker,
  type UTCTimestamp,
} from "lightweight-charts";
import { useEffect, useRef } from "react";
import { paintedAs } from "../panels/chart-look.ts";
import { type Candle, type Mark, viewAfter } from "./candles.ts";

interface CandleChartProps {
  readonly label: string;
  readonly candles: readonly Candle[];
  readonly marks: readonly Mark[];
  readonly isBack: boolean;
  readonly height: number;
}

interface Drawn {
  show(given: Pick<CandleChartProps, "candles" | "marks" | "isBack">): void;
  zoom(factor: number): void;
  fit(): void;
}

const colourOf: Readonly<Record<Mark["kind"], string>> = { order: "--quiet", fill: "--text", stop: "--critical" };
/** A bar that is not whole is drawn as its outline. */
const hollow = "rgba(0, 0, 0, 0)";

export function CandleChart({ label, candles, marks, isBack, height }: CandleChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn>(undefined);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const { end, ...chart } = draw(element, height);
    drawn.current = chart;
    return () => {
      drawn.current = undefined;
      end();
    };
  }, [height]);
  useEffect(() => {
    drawn.current?.show({ candles, marks, isBack });
  }, [candles, marks, isBack]);
  return (
    <figure className="chart">
      <figcaption>{label}</figcaption>
      <div ref={place} style={{ height }} aria-hidden="true" data-testid="replay-candles" />
      <p className="chart-tools">
        <button type="button" onClick={() => drawn.current?.zoom(0.5)}>
          Closer
        </button>
        <button type="button" onClick={() => drawn.current?.zoom(2)}>
          Wider
        </button>
        <button type="button" onClick={() => drawn.current?.fit()}>
          Whole
        </button>
      </p>
    </figure>
  );
}

/** As many decimals as tell prices of that size apart. */
function precisionOf(candles: readonly Candle[]): number {
  const close = candles.findLast((one) => one.close !== undefined)?.close ?? 0;
  return close >= 10 ? 2 : close >= 1 ? 4 : 6;
}

function draw(element: HTMLElement, height: number): Drawn & { end(): void } {
  const chart = createChart(element, {
    height,
    autoSize: true,
    // From the beginning: the logo brings a style with it, which the page's policy forbids.
    layout: { attributionLogo: false },
    localization: { locale: "en-US" },
    timeScale: { timeVisible: true, shiftVisibleRangeOnNewBar: false },
    // A page that is scrolled over a chart goes on.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
  });
  const series = chart.addSeries(CandlestickSeries, { priceLineVisible: false });
  const markers = createSeriesMarkers<UTCTimestamp>(series as never, []);
  const [pane] = chart.panes();
  const watermark = pane === undefined ? undefined : createTextWatermark(pane, { lines: [] });
  let shown: readonly Candle[] = [];
  let marks: readonly Mark[] = [];
  let look: ((name: string) => string) | undefined;

  const paintMarks = (): void =>
    markers.setMarkers(
      marks.map(
        ({ time, position, shape, kind, text }): SeriesMarker<UTCTimestamp> => ({
          time: time as UTCTimestamp,
          position,
          shape,
          text,
          color: look?.(colourOf[kind]) ?? "",
        }),
      ),
    );
  const endPainting = paintedAs(element, ({ page, colour }) => {
    look = colour;
    chart.applyOptions(page);
    const [up, down] = [colour("--gain"), colour("--loss")];
    const options: Partial<CandlestickSeriesOptions> = { upColor: up, downColor: down };
    series.applyOptions({
      ...options,
      borderUpColor: up,
      borderDownColor: down,
      wickUpColor: up,
      wickDownColor: down,
    });
    watermark?.applyOptions({
      lines: [{ text: "REPLAY", color: colour("--bar-ground"), fontSize: 64, fontFamily: "Inter, sans-serif" }],
    });
    paintMarks();
  });
  /** Where the view is, for programs that read the page. */
  const tell = (): void => {
    const range = chart.timeScale().getVisibleRange();
    if (range !== null) element.dataset["view"] = `${String(range.from)} ${String(range.to)}`;
  };
  chart.timeScale().subscribeVisibleTimeRangeChange(tell);
  return {
    show({ candles, marks: next, isBack }) {
      const scale = chart.timeScale();
      const view = shown.length === 0 ? null : scale.getVisibleLogicalRange();
      const precision = precisionOf(candles);
      series.applyOptions({ priceFormat: { type: "price", precision, minMove: 10 ** -precision } });
      series.setData(
        candles.map(
          ({ isPart, ...drawn }) =>
            ({ ...drawn, ...(isPart === true ? { color: hollow } : {}) }) as CandlestickData<UTCTimestamp>,
        ),
      );
      const wanted = view === null ? undefined : viewAfter(view, shown, candles, isBack);
      if (wanted === undefined) scale.fitContent();
      else scale.setVisibleLogicalRange(wanted);
      shown = candles;
      marks = next;
      paintMarks();
    },
    zoom(factor) {
      const scale = chart.timeScale();
      const range = scale.getVisibleLogicalRange();
      if (range === null) return;
      // Held at its right end: what is newest stays in sight.
      scale.setVisibleLogicalRange({ from: range.to - (range.to - range.from) * factor, to: range.to });
    },
    fit: () => chart.timeScale().fitContent(),
    end() {
      endPainting();
      chart.remove();
    },
  };
}
