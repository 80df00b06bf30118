/** What a page shows instead of its content: loading, empty, failed, not permitted, not found. */
import { Alert, Button, Loader, Text, Title } from '@mantine/core';
import { useCanGoBack } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { RefusedError, Unreachable } from '../api.ts';
import { LinkButton } from './link-button.tsx';
import classes from './states.module.css';

export function Loading({ what }: { what: string }) {
  return (
    <div className={classes.state} role="status">
      <Loader size="sm" />
      <Text size="sm" c="var(--dim)">
        Loading {what} …
      </Text>
    </div>
  );
}

export function Empty({
  title,
  order = 2,
  children,
  action,
}: {
  title: string;
  /** 1 where it is the whole page. */
  order?: 1 | 2;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={classes.state}>
      <Title order={order}>{title}</Title>
      {children && (
        <Text size="sm" c="var(--dim)" maw={480} ta="center">
          {children}
        </Text>
      )}
      {action}
    </div>
  );
}

/**
 * A failed query: the API's words, and a way forward. Where something may be typed, show it on `isLoadingError` only: a query that is read
 * again while the service is away must not remove the form.
 */
export function Failed({ error, retry, order = 2 }: { error: unknown; retry?: () => void; order?: 1 | 2 }) {
  const { title, text } = explain(error);
  const isGone = error instanceof RefusedError && error.code === 'NOT_FOUND';
  return (
    <div className={classes.state} role="alert">
      <Title order={order}>{title}</Title>
      <Text size="sm" c="var(--dim)" maw={480} ta="center">
        {text}
      </Text>
      {/* What is not there will not be there a moment later. */}
      {isGone ? (
        <WayOut />
      ) : (
        retry && (
          <Button variant="default" onClick={retry}>
            Try again
          </Button>
        )
      )}
    </div>
  );
}
/** A link from elsewhere opens the first page of the console: there is no way back. */
function WayOut() {
  if (!useCanGoBack()) return <LinkButton to="/">Go to Home</LinkButton>;
  return (
    <Button variant="default" onClick={() => history.back()}>
      Go back
    </Button>
  );
}
/** A query that failed beside others: what is shown stays, and this says that a part is missing or may be out of date. */
export function Outdated({ what, error, retry }: { what: string; error: unknown; retry: () => void }) {
  return (
    <Alert color="yellow" role="alert" mb="sm" title={`${what} could not be read just now`}>
      {explain(error).text}{' '}
      <Button variant="default" size="compact-xs" ml="xs" onClick={retry}>
        Try again
      </Button>
    </Alert>
  );
}
function explain(error: unknown): { title: string; text: string } {
  if (error instanceof Unreachable) return { title: 'No connection', text: error.message };
  if (error instanceof RefusedError) {
    if (error.code === 'FORBIDDEN') return { title: 'Not permitted', text: `${error.message} Ask an administrator for a higher role.` };
    if (error.code === 'NOT_FOUND') return { title: 'Not found', text: error.message };
    if (error.code === 'RATE_LIMITED') return { title: 'Too many requests', text: `${error.message} Wait a moment, then try again.` };
    if (error.code === 'UNAVAILABLE') return { title: 'Service unavailable', text: error.message };
    return { title: 'The service refused this', text: error.message };
  }
  return { title: 'This page failed', text: error instanceof Error ? error.message : String(error) };
}

export function PageError({ error, reset }: { error: unknown; reset?: () => void }) {
  return <Failed error={error} order={1} {...(reset === undefined ? {} : { retry: reset })} />;
}
export function NotFound() {
  return (
    <Empty title="There is no such page" order={1} action={<LinkButton to="/">Go to Home</LinkButton>}>
      The address may be mistyped, or what it pointed to is gone.
    </Empty>
  );
}
