// The rule about changes that must be audited, for fixtures: it holds for the platform's own units of work, and tests may change what they like to set a
// scene. That the platform has no units of work besides those is adapters/records/state-changes.test.ts's business.
import type { UnauditedChange } from "../adapters/records/audited-changes.ts";
import { unauditedChange, unitsOfWork } from "../adapters/records/state-changes.ts";

export const unauditedInPlatform: UnauditedChange = (unit, records, published) =>
  Object.hasOwn(unitsOfWork, unit) ? unauditedChange(unit, records, published) : undefined;
