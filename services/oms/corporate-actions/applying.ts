// What a corporate action is applied with, in its transaction.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { Instrument } from "../../../contracts/src/records/market.ts";
import type { StoredAction } from "../../../ports/corporate-actions.ts";
import type { UnitOfWork } from "../../../ports/store.ts";

import type { OmsPorts } from "../oms-parts.ts";

export interface Applying {
  readonly unit: UnitOfWork;
  readonly ports: ApplyPorts;
  readonly action: StoredAction;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly at: Instant;
}

type ApplyPorts = Pick<OmsPorts, "sha256">;
