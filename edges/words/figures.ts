// Figures as every face writes them. Amounts are exact decimals until they are written.
import { money } from "./money.ts";

/** "201,820.85"; what is no decimal as it is. */
export function amount(text: string | undefined): string {
  if (text === undefined) return "";
  const [whole = "", rest] = money(text).split(".");
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ",")}${rest === undefined ? "" : `.${rest}`}`;
}

/** "7.0 %", with so many digits: figures of a column stand below each other. */
export function percent(fraction: number | undefined, digits = 1): string {
  return fraction === undefined ? "" : `${(fraction * 100).toFixed(digits)} %`;
}

/** "7 %" or "12.25 %": as many digits as it has. */
export function exactPercent(fraction: number): string {
  return `${Number((fraction * 100).toPrecision(6))} %`;
}
