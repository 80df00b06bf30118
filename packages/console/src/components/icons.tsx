/** The few icons of the console, drawn here so that no icon package is needed. Each stands beside a text or has a label on its button. */
const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, strokeLinecap: 'round', strokeLinejoin: 'round' } as const;

export function CopyIcon() {
  return (
    <svg viewBox="0 0 16 16" width={12} height={12} aria-hidden="true" {...line}>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.500 2.500h-6.500a1.500 1.500 0 0 0-1.500 1.500v6.500" />
    </svg>
  );
}
export function CheckIcon() {
  return (
    <svg viewBox="0 0 16 16" width={12} height={12} aria-hidden="true" {...line}>
      <path d="M3 8.500l3.500 3.500L13 4.500" />
    </svg>
  );
}
export function DragIcon() {
  return (
    <svg viewBox="0 0 16 16" width={12} height={12} aria-hidden="true" fill="currentColor">
      {[3, 8, 13].flatMap((y) => [5, 11].map((x) => <circle key={`${x} ${y}`} cx={x} cy={y} r="1.3" />))}
    </svg>
  );
}
export function SearchIcon() {
  return (
    <svg viewBox="0 0 16 16" width={14} height={14} aria-hidden="true" {...line}>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.500 10.500L14 14" />
    </svg>
  );
}
export function MoonIcon() {
  return (
    <svg viewBox="0 0 16 16" width={15} height={15} aria-hidden="true" {...line}>
      <path d="M13.500 9.500a6 6 0 0 1-7-7 6 6 0 1 0 7 7z" />
    </svg>
  );
}
export function SunIcon() {
  return (
    <svg viewBox="0 0 16 16" width={15} height={15} aria-hidden="true" {...line}>
      <circle cx="8" cy="8" r="3" />
      <path d="M8 1v1.500M8 13.500v1.500M1 8h1.500M13.500 8h1.500M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1" />
    </svg>
  );
}
