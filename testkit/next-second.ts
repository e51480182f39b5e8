// Tokens and one-time codes count in whole seconds: what is to be later than them happens in a later second. This waits until one begins, however much of
// the present one is left.
import { pause } from "./platform.ts";

export async function nextSecond(): Promise<void> {
  const second = (): number => Math.floor(Date.now() / 1_000);
  for (const present = second(); second() === present; ) await pause(5);
}
