/** The frame around every page: rail, top bar, live state. Shows the sign-in page while nobody is signed in. */
import { AppShell, Burger, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { RANGE_PLACE } from '../components/range-select.tsx';
import { Loading } from '../components/states.tsx';
import { live } from '../live/live.ts';
import { useSession } from '../session/use-session.ts';
import { AccountMenu } from './account-menu.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { LiveDot } from './live-dot.tsx';
import { Rail } from './rail.tsx';
import { SearchButton } from './search-button.tsx';
import classes from './shell.module.css';
import { ThemeButton } from './theme-button.tsx';

const loadSignIn = async () => ({ default: (await import('../pages/sign-in/sign-in-page.tsx')).SignInPage });
const SignInPage = lazy(loadSignIn);
/** Long after the first page stands. A session that ends later finds the sign-in loaded, also after an upgrade of the service. */
const SIGN_IN_AFTER_MS = 5_000;

export function Shell() {
  const state = useSession();
  const signedIn = state.status === 'signed_in';
  useEffect(() => {
    if (!signedIn) return;
    live.start();
    // Where it cannot be loaded now, it is loaded when it is needed.
    const timer = setTimeout(() => void loadSignIn().catch(() => undefined), SIGN_IN_AFTER_MS);
    return () => {
      clearTimeout(timer);
      live.stop();
    };
  }, [signedIn]);
  if (state.status === 'unknown')
    return (
      <>
        <Loading what="your session" />
        {state.waiting !== undefined && (
          <Text size="sm" ta="center" role="alert">
            {state.waiting}
          </Text>
        )}
      </>
    );
  if (state.status === 'signed_out' && state.user === undefined)
    return (
      <Suspense fallback={<Loading what="the sign-in" />}>
        <SignInPage {...(state.reason === undefined ? {} : { notice: state.reason })} />
      </Suspense>
    );
  return (
    <>
      <Frame />
      {state.status === 'signed_out' && (
        <Modal
          opened
          onClose={() => undefined}
          fullScreen
          withCloseButton={false}
          padding={0}
          aria-label="Sign in again"
          transitionProps={{ duration: 0 }}
        >
          <Suspense fallback={<Loading what="the sign-in" />}>
            <SignInPage {...(state.reason === undefined ? {} : { notice: state.reason })} email={state.user?.email ?? ''} />
          </Suspense>
        </Modal>
      )}
    </>
  );
}

function Frame() {
  const [open, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu of small screens
  useEffect(close, [pathname]);
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !open } }} padding="lg">
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      <AppShell.Header className={classes.header}>
        <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" aria-expanded={open} />
        <Link to="/" className={classes.logo}>
          Firsthand
        </Link>
        <SearchButton />
        <div id={RANGE_PLACE} />
        <Group gap="md" ml="auto" wrap="nowrap">
          <LiveDot />
          <ThemeButton />
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.rail}>
        <Rail />
      </AppShell.Navbar>
      <AppShell.Main id="main" className={classes.main}>
        <ConnectionBanner />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
