// A doorbell: whoever waits goes on when it rings, and a ring that nobody waited for is not forgotten.
export interface Signal {
  ring(): void;
  heard(): Promise<void>;
}

export function signal(): Signal {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async heard() {
      if (!rung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      rung = false;
      wake = undefined;
    },
  };
}
