// The end of a call as its handler sees it. A signal costs about as much as a small call, and firing one that nobody holds costs it again,
// so it is made only for handlers that look at it.
export interface HangUp {
  readonly signal: AbortSignal;
  isGone(): boolean;
  /** Once is enough; again does nothing. */
  end(): void;
}

export function hangUps(): HangUp {
  let gone = false;
  let controller: AbortController | undefined;
  return {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (gone) controller.abort();
      }
      return controller.signal;
    },
    isGone: () => gone,
    end() {
      gone = true;
      controller?.abort();
    },
  };
}
