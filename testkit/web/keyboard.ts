// A person at the web desks who has no mouse: moves by Tab, opens by Enter, types, and leaves by Escape. What cannot be reached so, fails.
import type { Locator, Page } from "playwright-core";
import type { DangerTyped, DeskPerson } from "./desk-browser.ts";

/** More stops than any desk has: then it is not reachable. */
const tabsMax = 600;

/** Presses Tab until the place has the focus. */
export async function tabTo(page: Page, place: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  await place.waitFor();
  for (let presses = 0; presses < tabsMax; presses += 1) {
    if (await isFocused(place)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`not reached by ${tabsMax} presses of ${key}: ${String(place)}`);
}

type Focusing = { readonly document: { readonly activeElement: unknown } };

export function isFocused(place: Locator): Promise<boolean> {
  return place.evaluate((element) => element === (globalThis as unknown as Focusing).document.activeElement);
}

export async function press(page: Page, place: Locator): Promise<void> {
  await tabTo(page, place);
  await page.keyboard.press("Enter");
}

/** In place of what stands in the field. */
export async function retype(page: Page, place: Locator, text: string): Promise<void> {
  await tabTo(page, place);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

/** Fills the open danger dialog in and confirms it; returns what the outcome says once the server proved it. */
export async function confirmByKeyboard({ at, page }: DeskPerson, typed: DangerTyped, msMax = 90_000): Promise<string> {
  for (const field of ["word", "reason", "code"] as const) {
    const text = typed[field];
    if (text !== undefined) await retype(page, at(`danger-${field}`), text);
  }
  await press(page, at("danger-confirm"));
  await page.locator("[data-testid=danger-outcome][data-done=true]").waitFor({ timeout: msMax });
  return (await at("danger-outcome").textContent()) ?? "";
}

/** Leaves the dialog; the focus returns to what opened it, or to the page. */
export async function leaveDialog({ at, page }: DeskPerson): Promise<void> {
  await page.keyboard.press("Escape");
  await at("danger-dialog").waitFor({ state: "detached" });
}
