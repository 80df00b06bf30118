import classes from './catalog.module.css';

/** Two letters of the vendor's name; the name itself stands beside it. */
export function VendorIcon({ name }: { vendor: string; name: string }) {
  const letters = name
    .split(/[\s-]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0))
    .join('');
  return (
    <span className={classes.icon} aria-hidden>
      {letters}
    </span>
  );
}
