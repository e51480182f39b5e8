// The library of the charts draws on a canvas and knows no style sheet: it gets the page's colours, and gets them again when they change by day and night
// and for paper.

const themes = ["(prefers-color-scheme: dark)", "print"];

interface PageLook {
  /** A colour of the page by its name. */
  colour(name: string): string;
  readonly page: ReturnType<typeof optionsOf>;
}

function optionsOf(colour: PageLook["colour"]) {
  const hair = colour("--hair");
  return {
    layout: {
      background: { color: colour("--panel") },
      textColor: colour("--quiet"),
      fontFamily: "Inter, sans-serif",
      fontSize: 12,
    },
    grid: { vertLines: { visible: false }, horzLines: { color: hair } },
    timeScale: { borderColor: hair },
    rightPriceScale: { borderColor: hair },
  };
}

/** At once and at every change; ended by what it returns. */
export function paintedAs(element: HTMLElement, paint: (look: PageLook) => void): () => void {
  const repaint = (): void => {
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    paint({ colour, page: optionsOf(colour) });
  };
  repaint();
  const media = themes.map((one) => window.matchMedia(one));
  for (const one of media) one.addEventListener("change", repaint);
  return () => {
    for (const one of media) one.removeEventListener("change", repaint);
  };
}
