import { Button, type ButtonProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ComponentPropsWithRef } from 'react';
import { organisationQuery } from '../queries.ts';
import { useUser } from '../session/use-session.ts';
import classes from './shell.module.css';

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
