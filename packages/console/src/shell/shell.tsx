/** The frame around every page: rail, top bar, live state. Shows the sign-in page while nobody is signed in. */
import { Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { RANGE_PLACE } from '../components/range-select.tsx';
import { Loading } from '../components/states.tsx';
import { live } from '../live/live.ts';
import { useSession } from '../session/use-session.ts';
import { AccountButton } from './account-button.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { LiveDot } from './live-dot.tsx';
import { Rail } from './rail.tsx';
import { SearchButton } from './search-button.tsx';
import classes from './shell.module.css';
import { ThemeButton } from './theme-button.tsx';

const SignInPage = lazy(async () => ({ default: (await import('../pages/sign-in/sign-in-page.tsx')).SignInPage }));
const loadSignInAgain = async () => ({ default: (await import('../pages/sign-in/sign-in-again.tsx')).SignInAgain });
const SignInAgain = lazy(loadSignInAgain);
/** Long after the first page stands. A session that ends later finds the sign-in loaded, also after an upgrade of the service. */
const SIGN_IN_AFTER_MS = 5_000;

export function Shell() {
  const state = useSession();
  const signedIn = state.status === 'signed_in';
  useEffect(() => {
    if (!signedIn) return;
    live.start();
    // Where it cannot be loaded now, it is loaded when it is needed.
    const timer = setTimeout(() => void loadSignInAgain().catch(() => undefined), SIGN_IN_AFTER_MS);
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
        <Suspense fallback={<Loading what="the sign-in" />}>
          <SignInAgain {...(state.reason === undefined ? {} : { notice: state.reason })} email={state.user?.email ?? ''} />
        </Suspense>
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
    <div className={classes.frame}>
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      {/* The second class keeps its place while a dialog hides the scroll bar. */}
      <header className={`${classes.header} right-scroll-bar-position`}>
        <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" aria-expanded={open} />
        <Link to="/" className={classes.logo}>
          Firsthand
        </Link>
        <SearchButton />
        <div id={RANGE_PLACE} />
        <Group gap="md" ml="auto" wrap="nowrap">
          <LiveDot />
          <ThemeButton />
          <AccountButton />
        </Group>
      </header>
      <div className={classes.rail} data-open={open}>
        <Rail />
      </div>
      <main id="main" className={classes.main}>
        <ConnectionBanner />
        <Outlet />
      </main>
    </div>
  );
}
