// Ten more short runs of the whole platform, in a file of their own so that another worker takes them.
import { holdSeeds } from "./hold-seeds.ts";

holdSeeds(
  11,
  20,
  "holds every invariant over seeds 11 to 20, and they do meet crashes, halts, limits, trades and alerts",
);
