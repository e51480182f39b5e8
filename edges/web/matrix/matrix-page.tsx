// /matrix: where is it concentrated? Every fund by itself: PAPER and LIVE are never added.
import { Cell } from "./cell.tsx";
import { Correlations } from "./correlations.tsx";
import { MatrixPanel } from "./matrix.tsx";

export function MatrixPage() {
  return (
    <div className="panels">
      <MatrixPanel />
      <Cell />
      <Correlations />
    </div>
  );
}
