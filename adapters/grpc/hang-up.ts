// The end of a call as its handler sees it. A signal costs about as much as a small call, and firing one that nobody holds costs it again,
// so it is made only for handlers that look at it.
//
// A class, and so is whatever is made for each call: a getter in an object of its own is remembered with the shape of such objects, and what it holds,
// the call, outlives its answer until the next large collection.
export class HangUp {
  private gone = false;
  private controller: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.gone) this.controller.abort();
    }
    return this.controller.signal;
  }

  isGone(): boolean {
    return this.gone;
  }

  /** Once is enough; again does nothing. */
  end(): void {
    this.gone = true;
    this.controller?.abort();
  }
}
