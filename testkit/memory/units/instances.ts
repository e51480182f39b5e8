// Who runs, in a transaction of the memory store.
import { Defect } from "../../../contracts/src/fault.ts";
import type { Instance, UnitOfWork } from "../../../ports/store.ts";
import type { RecordTools } from "../layered-map.ts";

export type InstanceTables = Map<string, Instance>;

export function instanceChanges(tables: InstanceTables, { inTurn, lock, table }: RecordTools): UnitOfWork["instances"] {
  const instances = table("service_instance", tables);
  const known = (): Instance[] => instances.filter(() => true).sort((one, other) => one.startedAt - other.startedAt);
  return {
    register: (instance) =>
      inTurn(async () => {
        await lock(`instance ${instance.incarnation}`);
        if (instances.has(instance.incarnation)) {
          throw new Defect(`the incarnation ${instance.incarnation} was registered before`);
        }
        instances.set(instance.incarnation, instance);
      }),
    renew: (incarnation, leaseUntil) =>
      inTurn(async () => {
        await lock(`instance ${incarnation}`);
        const held = instances.get(incarnation);
        if (held === undefined) return false;
        instances.set(incarnation, { ...held, leaseUntil });
        return true;
      }),
    retire: (incarnation) =>
      inTurn(async () => {
        await lock(`instance ${incarnation}`);
        instances.delete(incarnation);
      }),
    alive: (at) => inTurn(async () => known().filter((instance) => instance.leaseUntil > at)),
    declareLost: (at) =>
      inTurn(async () => {
        const lost: Instance[] = [];
        for (const { incarnation } of known().filter((instance) => instance.leaseUntil <= at)) {
          await lock(`instance ${incarnation}`);
          // The transaction that held the row before may have renewed or buried it, so it is looked at again.
          const instance = instances.get(incarnation);
          if (instance === undefined || instance.leaseUntil > at) continue;
          instances.delete(incarnation);
          lost.push(instance);
        }
        return lost;
      }),
  };
}
