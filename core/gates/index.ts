// The seven gates in the order in which they are asked. The first that says no decides.

import type { Gate, GatePhase } from "../state/gate.ts";
import { croVeto } from "./cro-veto.ts";
import { drawdownHalt } from "./drawdown-halt.ts";
import { idempotency } from "./idempotency.ts";
import { positionRisk } from "./position-risk.ts";
import { schema } from "./schema.ts";
import { shortSide } from "./short-side.ts";
import { staticLimits } from "./static.ts";

export const gates: readonly Gate[] = [
  idempotency,
  schema,
  staticLimits,
  positionRisk,
  drawdownHalt,
  shortSide,
  croVeto,
];

/** Those of some phases, in their order. */
export const gatesOf = (...phases: readonly GatePhase[]): readonly Gate[] =>
  gates.filter(({ phase }) => phases.includes(phase));
