// One life of one service: its ports, wrapped so that a simulated crash ends it the way kill -9 would.
//
//  1. After the crash no call of a wrapped port has an effect: asynchronous ones return promises that never settle, and
//     those already under way never settle either; synchronous ones throw IncarnationEnded.
//  2. Timers of a crashed incarnation never fire, and callbacks it gave away (handlers, works) are not run any more.
//  3. `crash.die` ends this incarnation only; the process that simulates it goes on.
import type { Crash } from "../../ports/crash.ts";
import type { Timers } from "../../ports/timers.ts";

/** Thrown where a dead incarnation's code cannot be kept waiting; it means nothing but "no longer there". */
export class IncarnationEnded extends Error {
  override readonly name = "IncarnationEnded";
}

export interface Incarnation<Ports> {
  readonly name: string;
  readonly ports: Ports & { readonly crash: Crash };
  isAlive(): boolean;
  /** Ends it now, as kill -9 does; ending it twice is harmless. */
  end(): void;
}

interface Life {
  readonly name: string;
  alive: boolean;
}

/** Port methods that answer at once instead of promising. Everything else is taken to return a promise. */
const synchronousMethods: Readonly<Record<string, readonly string[]>> = {
  clock: ["now"],
  random: ["bytes", "uuid"],
  prng: ["bytes", "uuid", "word", "below", "chance", "fork"],
  bus: ["broadcast", "health", "handledCount", "droppedCount", "caughtUpAt"],
  log: ["debug", "info", "warn", "error", "with"],
  metrics: ["counter", "gauge", "histogram", "add", "set", "observe"],
};

const never = new Promise<never>(() => undefined);

/** Wraps ports by their customary names (clock, timers, random, store, bus, …). `onEnd` tells the world about the death. */
export function incarnation<Ports extends Readonly<Record<string, object>>>(
  name: string,
  ports: Ports,
  onEnd: (defect?: Error) => void = () => undefined,
): Incarnation<Ports> {
  const life: Life = { name, alive: true };
  const end = (defect?: Error) => {
    if (!life.alive) return;
    life.alive = false;
    onEnd(defect);
  };
  const wrapped = Object.fromEntries(
    Object.entries(ports).map(([key, port]) => [
      key,
      key === "timers" ? mortalTimers(life, port as Timers) : mortal(life, port, synchronousMethods[key] ?? []),
    ]),
  ) as Ports;
  const crash: Crash = {
    die(defect) {
      end(defect);
      throw new IncarnationEnded(`${name} has ended: ${defect.message}`);
    },
  };
  return { name, ports: { ...wrapped, crash }, isAlive: () => life.alive, end: () => end() };
}

function mortalTimers(life: Life, timers: Timers): Timers {
  return {
    sleep: (ms, signal) => (life.alive ? whileAlive(life, timers.sleep(ms, signal)) : never),
    after: (ms, run) => {
      if (!life.alive) throw new IncarnationEnded(`${life.name} has ended`);
      return timers.after(ms, () => {
        if (life.alive) run();
      });
    },
    soon: (run) => {
      if (!life.alive) throw new IncarnationEnded(`${life.name} has ended`);
      timers.soon(() => {
        if (life.alive) run();
      });
    },
  };
}

/** The same promise for as long as the incarnation lives, and one that never settles from then on. */
function whileAlive<T>(life: Life, promise: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    promise.then(
      (value) => {
        if (life.alive) resolve(value);
      },
      (thrown: unknown) => {
        if (life.alive) reject(thrown);
      },
    );
  });
}

/** A unit of work has its functions one level down; what is nested deeper is data. */
const callableDepthMax = 2;

/** Whether a value is something to call (a port, a unit of work, a subscription) and not data. */
function isCallable(value: unknown, depth = 0): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Promise) return false;
  for (const key in value) {
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof inner === "function" || (depth < callableDepthMax && isCallable(inner, depth + 1))) return true;
  }
  return false;
}

function mortal<Port extends object>(life: Life, port: Port, synchronous: readonly string[]): Port {
  const wrap = (value: unknown): unknown => {
    if (value instanceof Promise) return whileAlive(life, value.then(wrap));
    if (typeof value === "function") return mortalCallback(life, value, wrap);
    return isCallable(value) ? mortal(life, value, synchronous) : value;
  };
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return wrap(value);
      return (...given: unknown[]): unknown => {
        if (life.alive) return wrap(Reflect.apply(value, target, given.map(wrap)));
        if (!synchronous.includes(String(property))) return never;
        throw new IncarnationEnded(`${life.name} has ended`);
      };
    },
  });
}

/** A function that was given to a port: not run any more once the incarnation has ended. */
function mortalCallback(life: Life, callback: object, wrap: (value: unknown) => unknown) {
  return (...given: unknown[]): unknown =>
    life.alive ? wrap(Reflect.apply(callback as () => unknown, undefined, given.map(wrap))) : never;
}

/**
 * Code that dies in the middle of a chain nobody listens to leaves an unhandled IncarnationEnded behind, where a real
 * process would simply be gone. This lets those pass and hands every other rejection on; call the result to undo it.
 */
export function ignoreEndedIncarnations(): () => void {
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  const filter: NodeJS.UnhandledRejectionListener = (reason, promise) => {
    if (reason instanceof IncarnationEnded) return;
    if (others.length === 0) throw reason;
    for (const other of others) other(reason, promise);
  };
  process.on("unhandledRejection", filter);
  return () => {
    process.off("unhandledRejection", filter);
    for (const other of others) process.on("unhandledRejection", other);
  };
}
