import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { short } from '../format.ts';
import { deadLetterCountQuery } from '../queries.ts';
import { PAGES } from './pages.ts';
import classes from './shell.module.css';

export function Rail() {
  const { data: dead = 0 } = useQuery(deadLetterCountQuery());
  return (
    <nav aria-label="Pages">
      {PAGES.map(({ to, label }) => (
        <Link key={to} to={to} className={classes.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
          {label}
          {to === '/dead-letters' && dead > 0 && <span className={classes.count}>{short(dead)}</span>}
        </Link>
      ))}
    </nav>
  );
}
