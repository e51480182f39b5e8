// /risk: how near is any limit, and what is halted? What needs somebody stands first, detail below.
import { Envelope } from "./envelope.tsx";
import { Blocks, Halts } from "./halts.tsx";
import { Headroom } from "./headroom.tsx";
import { LimitUse } from "./limit-use.tsx";
import { Losses } from "./losses.tsx";
import { Rejections } from "./rejections.tsx";
import { Differences, Stops } from "./stops.tsx";

export function RiskPage() {
  return (
    <div className="panels">
      <Halts />
      <Blocks />
      <LimitUse />
      <Losses />
      <Headroom />
      <Stops />
      <Rejections />
      <Differences />
      <Envelope />
    </div>
  );
}
