// Holds the state, feeds events to the reducer one at a time, and hands on what is to be done.
import type { Effect, Event } from "./model/events.ts";
import { reduce } from "./model/reduce.ts";
import type { State } from "./model/state.ts";

export interface Store {
  state(): State;
  dispatch(event: Event): void;
  /** Called after every change; the answer ends it. */
  subscribe(listener: () => void): () => void;
}

export function createStore(initial: State, perform: (effect: Effect) => void): Store {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    state: () => state,
    dispatch(event) {
      const step = reduce(state, event);
      const isChanged = step.state !== state;
      state = step.state;
      for (const effect of step.effects) perform(effect);
      if (isChanged) for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
