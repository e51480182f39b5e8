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

/** When something was there first, of the page's own clock. */
export function firstShown(moments: readonly Moment[], name: string): number | undefined {
  return moments.find(({ shown }) => shown.includes(name))?.atMs;
}
