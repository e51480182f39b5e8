// The procedures of Treasury about reference data and funds. Treasury and operations answer them alike, from the store: on a platform without
// treasury the gateway asks operations (contracts/src/served-by.ts). Whoever changes something holds the kinds locked, so two doors are no race.
import type {
  CosignReferenceRequest,
  Instruments,
  ListNavsRequest,
  ReferenceDataRequest,
  ReferenceDocument,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import type { ServedWithoutTreasury } from "../../contracts/src/served-by.ts";
import type { RpcCall, UnaryHandler } from "../../ports/rpc.ts";
import type { ServicePorts } from "../shared/service.ts";
import { listFunds, type NewestOwnValue } from "./list-funds.ts";
import { listNavs } from "./list-navs.ts";
import type { OneAtATime } from "./one-at-a-time.ts";
import { cosignReferenceData, getReferenceData, type ReferencePorts, setReferenceData } from "./reference-commands.ts";
import type { ReferenceReader } from "./reference-view.ts";

interface ReferenceProcedures {
  readonly ports: ReferencePorts & Pick<ServicePorts, "treasuryQueries">;
  readonly reader: ReferenceReader;
  readonly newestOwn: NewestOwnValue;
  /** A change needs two connections at once: many at a time could have all of them and wait for one more for ever. */
  readonly setting: OneAtATime;
}

export function referenceProcedures({ ports, reader, newestOwn, setting }: ReferenceProcedures) {
  return {
    ListFunds: () => listFunds(reader, newestOwn, ports),
    ListNavs: (request: ListNavsRequest) => listNavs(request, ports, reader),
    ListInstruments: async (): Promise<Instruments> => ({
      instruments: (await reader.refresh()).reference.instruments.map((one) => ({
        ...one,
        priced_by: one.priced_by ?? [],
      })),
    }),
    GetReferenceData: (request: ReferenceDataRequest) => getReferenceData(request, ports),
    SetReferenceData: (request: ReferenceDocument, call: RpcCall) =>
      setting(() => setReferenceData(request, call, ports)),
    CosignReferenceData: (request: CosignReferenceRequest, call: RpcCall) =>
      setting(() => cosignReferenceData(request, call, ports)),
  } satisfies Record<ServedWithoutTreasury, UnaryHandler>;
}

/** The document of the funds has all of them; everything else is about no fund. */
export const referenceFunds = {
  GetReferenceData: async ({ kind }: ReferenceDataRequest) => (kind === "funds" ? ("every" as const) : []),
};
