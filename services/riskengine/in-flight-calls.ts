// Who must have been answered before a halt is acknowledged: every decision is in a lane from the moment it was made until its answer
// is handed over, and a halt closes the lane that is open and waits until it is empty. Two numbers per lane, nothing per decision.

interface Lane {
  count: number;
  emptied: (() => void) | undefined;
}

export interface InFlightCalls {
  enter(): Lane;
  leave(lane: Lane): void;
  /** Resolves when everybody who is in a lane now has left; who enters later is not waited for. */
  cleared(): Promise<void>;
}

export function createInFlightCalls(): InFlightCalls {
  let open: Lane = { count: 0, emptied: undefined };
  const closed = new Map<Lane, Promise<void>>();

  return {
    enter() {
      open.count += 1;
      return open;
    },
    leave(lane) {
      lane.count -= 1;
      if (lane.count === 0) lane.emptied?.();
    },
    async cleared() {
      if (open.count > 0) {
        const closing = open;
        open = { count: 0, emptied: undefined };
        const emptied = new Promise<void>((resolve) => {
          closing.emptied = resolve;
        });
        closed.set(
          closing,
          emptied.then(() => {
            closed.delete(closing);
          }),
        );
      }
      await Promise.all(closed.values());
    },
  };
}
