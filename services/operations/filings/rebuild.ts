// Makes the files of a day again that hold something else than their records. What they held stays beside them under another name: nothing is deleted.
import type { RebuiltFile } from "../../../contracts/src/generated/svc/v1/filingchecks.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import { pathOf } from "./bring-file.ts";
import type { FilingParts } from "./filing-parts.ts";

export async function rebuildDay(
  { ports, images, alarms, sha256 }: FilingParts,
  { regime, fundId, date }: { readonly regime: FilingRegime; readonly fundId: string; readonly date: string },
): Promise<RebuiltFile[]> {
  const rebuilt: RebuiltFile[] = [];
  for (const status of ["WRITTEN", "QUARANTINED"] as const) {
    const file = { regime: regime.name, fundId, date, status };
    const path = pathOf(file, sha256);
    const before = await images.look(file, path);
    if (before.state === "IMAGE" || before.state === "NONE") continue;
    const aside = `${path.at(-1)}.changed-${format(ports.clock.now()).replaceAll(/[:-]/g, "")}`;
    const state = await images.makeAgain(file, path, aside);
    const name = path.join("/");
    if (state === "IMAGE") alarms.clear("FILING_FILE_CHANGED", name);
    rebuilt.push({ path: name, state: state ?? "IMAGE", set_aside_as: before.state === "CHANGED" ? aside : "" });
  }
  return rebuilt;
}
