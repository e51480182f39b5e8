// Keeps the paper platform's rates and borrow fresh: nobody else says them there, and what is old is a denial. Only where every fund is
// paper: for a live fund an old rate must stay old.
import { format, type Instant, millisecondsBetween, parse } from "../../contracts/src/instant.ts";
import type { ReferenceContents } from "../../contracts/src/records/reference.ts";
import { putReference } from "../reference/reference-records.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import { paperActor } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";

const restampEveryMs = 600_000;

const kinds = ["fx", "borrow"] as const;
type Stamped = readonly { readonly as_of: string }[];

type PaperFeedPorts = Pick<ServicePorts, "clock" | "store" | "sha256" | "settings">;

/** Says the same figures again as of now, as a new version, when they are older than ten minutes. */
export async function keepPaperFresh(ports: PaperFeedPorts, view: ReferenceView): Promise<void> {
  const { fx, borrow, funds } = view.reference;
  const at = ports.clock.now();
  if (!ports.settings.seedPaperPlatform || funds.some(({ mode }) => mode !== "PAPER")) return;
  if (!isOld(fx, at) && !isOld(borrow, at)) return;
  await ports.store.transact("treasury.paper-feed", async (unit) => {
    for (const kind of kinds) {
      const locked = await unit.reference.lock(kind);
      const content = (locked?.content ?? []) as ReferenceContents[typeof kind];
      if (locked === undefined || !isOld(content, at)) continue;
      const stamped = content.map((record) => ({ ...record, as_of: format(at) }));
      const change = { kind, version: locked.version + 1, content: stamped, setBy: paperActor, reason: "paper feed" };
      await putReference(unit, change, at, ports.sha256);
    }
  });
}

function isOld(records: Stamped, at: Instant): boolean {
  return records.some(({ as_of }) => millisecondsBetween(parse(as_of), at) >= restampEveryMs);
}
