// What a page showed, moment by moment: the link word, the panels' states and whether something is there, kept by the page itself so that nothing between two
// looks is missed.
import type { Page } from "playwright-core";

export interface Moment {
  readonly atMs: number;
  readonly link: string;
  /** "panel=state", one for each. */
  readonly panels: readonly string[];
  /** data-testids of the frame that were there. */
  readonly shown: readonly string[];
}

const watched = ["halt-banner", "cosign-card", "logged-out"];

const script = `
  window.moments = [];
  // Time as it counts for a promise: a page that the machine does not let run for a second had no second of it.
  window.ticks = [[Date.now(), 0]];
  setInterval(() => {
    const [at, counted] = window.ticks.at(-1);
    const now = Date.now();
    window.ticks.push([now, counted + Math.min(now - at, 100)]);
  }, 50);
  const look = () => {
    const panels = [...document.querySelectorAll("[data-testid^=panel-]")].map((one) => one.dataset.testid.slice(6) + "=" + one.dataset.state);
    const shown = ${JSON.stringify(watched)}.filter((name) => document.querySelector("[data-testid=" + name + "]") !== null);
    const link = document.querySelector("[data-testid=link-state]")?.dataset.state ?? "";
    const last = window.moments.at(-1);
    const moment = { atMs: Date.now(), link, panels, shown };
    if (last !== undefined && JSON.stringify({ ...last, atMs: 0 }) === JSON.stringify({ ...moment, atMs: 0 })) return;
    window.moments.push(moment);
  };
  look();
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state", "data-testid"] });
`;

/** From now on, until the page is left. */
export async function watchStates(page: Page): Promise<() => Promise<readonly Moment[]>> {
  await page.evaluate(script);
  return async () => (await page.evaluate("window.moments")) as readonly Moment[];
}

/** How long after a moment something was there first; of the time in which the page could run. */
export async function shownAfterMs(page: Page, name: string, sinceMs: number): Promise<number> {
  const [moments, ticks] = (await page.evaluate("[window.moments, window.ticks]")) as [
    readonly Moment[],
    readonly (readonly [number, number])[],
  ];
  const atMs = moments.find(({ shown }) => shown.includes(name))?.atMs ?? Number.NaN;
  const countedAt = (ms: number): number => ticks.find(([at]) => at >= ms)?.[1] ?? ticks.at(-1)?.[1] ?? Number.NaN;
  return countedAt(atMs) - countedAt(sinceMs);
}
