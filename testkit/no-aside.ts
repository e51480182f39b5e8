// A place for events that were put aside which has none and takes none, for tests and benches that put nothing aside.
import type { AsideStore } from "../adapters/transport/put-aside.ts";

export const noAsideStore: AsideStore = {
  put: () => Promise.reject(new Error("nothing is put aside here")),
  due: async () => [],
  take: async () => false,
  failed: async () => undefined,
  done: async () => undefined,
  refused: async () => undefined,
};
