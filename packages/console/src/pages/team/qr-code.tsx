import { encode } from 'uqr';

/** Always dark on white, with a margin: that is what cameras read. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={192}
      height={192}
      role="img"
      aria-label={label}
      style={{ background: '#fff', borderRadius: 6 }}
    >
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
