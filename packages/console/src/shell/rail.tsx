import { Link } from '@tanstack/react-router';
import { PAGES } from './pages.ts';
import classes from './shell.module.css';

export function Rail() {
  return (
    <nav aria-label="Pages">
      {PAGES.map(({ to, label }) => (
        <Link key={to} to={to} className={classes.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
