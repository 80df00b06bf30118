/** A line without axes: the shape of a number over time. Plain SVG; the numbers are in a text for screen readers. */
export function Sparkline({ values, label, tone }: { values: number[]; label: string; tone?: 'bad' | undefined }) {
  const highest = Math.max(...values, 1);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map((value, at) => `${(at * step).toFixed(2)},${(22 - (value / highest) * 20).toFixed(2)}`).join(' ');
  const colour = tone === 'bad' ? 'var(--bad)' : 'var(--accent)';
  return (
    <svg
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      height={24}
      width="100%"
      role="img"
      aria-label={`${label}: from ${values[0]} to ${values.at(-1)}, highest ${highest}`}
    >
      <polyline points={points} fill="none" stroke={colour} strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
