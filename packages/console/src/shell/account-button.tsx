import { Button, type ButtonProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ComponentPropsWithRef, lazy, Suspense, useState } from 'react';
import { organisationQuery } from '../queries.ts';
import { useUser } from '../session/use-session.ts';
import classes from './shell.module.css';

const load = () => import('./account-menu.tsx');
const AccountMenu = lazy(async () => ({ default: (await load()).AccountMenu }));

/** The menu itself is loaded when it is first opened, or just before. */
export function AccountButton() {
  const [wanted, setWanted] = useState(false);
  // Where it cannot be loaded ahead, it is loaded when it is opened.
  const ahead = () => void load().catch(() => undefined);
  const closed = (
    <AccountLabel aria-haspopup="menu" aria-expanded={false} onPointerEnter={ahead} onFocus={ahead} onClick={() => setWanted(true)} />
  );
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <AccountMenu />
    </Suspense>
  );
}

export function AccountLabel(props: ButtonProps & Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps>) {
  const user = useUser();
  const organisation = useQuery(organisationQuery());
  return (
    <Button variant="default" {...props}>
      <span className={classes.organisation}>{organisation.data?.name ?? user.email.split('@', 1)[0]}</span>
      <span className={classes.role}>{`\u00a0· ${user.role}`}</span>
      {'\u00a0▾'}
    </Button>
  );
}
