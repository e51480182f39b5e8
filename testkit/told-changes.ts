// The rule about changes that must be told, for rigs: it holds for the platform's own units of work, and tests may change what they like to set a
// scene. That the platform has no units of work besides those is adapters/records/state-changes.test.ts's business.
import type { UntoldChange } from "../adapters/records/audited-changes.ts";
import { unitsOfWork, untoldChange } from "../adapters/records/state-changes.ts";

export const untoldInPlatform: UntoldChange = (unit, records, published) =>
  Object.hasOwn(unitsOfWork, unit) ? untoldChange(unit, records, published) : undefined;
