// The screens, in the order of their keys.
import type { ScreenName } from "../model/state.ts";
import { funds } from "./funds.ts";
import { halts } from "./halts.ts";
import { orders } from "./orders.ts";
import { positions } from "./positions.ts";
import { risk } from "./risk.ts";
import type { Screen } from "./screen.ts";

export const screens: readonly Screen[] = [positions, orders, funds, risk, halts];

const byName = new Map(screens.map((screen) => [screen.name, screen]));

export function screenNamed(name: ScreenName): Screen {
  return byName.get(name) ?? positions;
}
