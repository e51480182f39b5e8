// A dry run of a change of reference data: judged as the change would be, and told instead of made. What it would make of limits and headroom is the risk engine's to
// say; while it cannot be asked, that alone is missing.
import type { ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import type { ReferenceKind } from "../../contracts/src/records/reference.ts";
import { referenceChanges, unknownUse } from "../../core/ledger/reference-changes.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { JudgedChange } from "./judge-reference.ts";
import { previewOf } from "./preview-of.ts";

/** As many as a record of a change names. */
const changesMax = 200;
const valueLengthMax = 400;

interface DryRun {
  readonly kind: ReferenceKind;
  readonly version: number;
  readonly contentJson: string;
  readonly reason: string;
  readonly change: JudgedChange;
  /** Those under which a second person must sign. */
  readonly haltCount: number;
}

export async function dryRunDocument(
  { kind, version, contentJson, reason, change, haltCount }: DryRun,
  ports: Pick<ServicePorts, "limitPreviews">,
): Promise<ReferenceDocument> {
  const { before, after, loosened } = change;
  const loosens = new Set(loosened.map(({ field }) => field));
  const all = referenceChanges(kind, before, after, unknownUse);
  const changes = all.slice(0, changesMax).map(({ field, effect, before: was, after: is }) => ({
    field: line(field, valueLengthMax),
    before: line(was, valueLengthMax),
    after: line(is, valueLengthMax),
    // What nothing uses loosens nothing.
    effect: effect === "LOOSENS" && !loosens.has(field) ? "NEITHER" : effect,
  }));
  return {
    kind,
    version,
    content_json: contentJson,
    reason,
    dry_run: true,
    would_change: {
      changes,
      takes_second_factor: loosened.length > 0,
      takes_second_person: loosened.length > 0 && haltCount > 0,
      ...(await previewOf(ports, { kind, contentJson })),
    },
  };
}
