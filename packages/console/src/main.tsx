import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import '@mantine/spotlight/styles.layer.css';
import './theme.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { RefusedError } from './api.ts';
import { keepFocus } from './keep-focus.ts';
import { Overlays } from './overlays.tsx';
import { createConsoleRouter } from './router.tsx';
import { session } from './session/session.ts';
import { theme } from './theme.ts';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      // The API's own refusals do not get better by asking again; a lost connection may.
      retry: (count, error) => !(error instanceof RefusedError && error.code !== 'UNAVAILABLE') && count < 3,
    },
  },
});
// Another user, or none: data of the previous user must not be shown.
let shownTo: string | undefined;
session.subscribe(() => {
  const state = session.get();
  const now = state.status === 'signed_in' ? state.user.id : undefined;
  if (shownTo !== undefined && now !== undefined && now !== shownTo) queries.clear();
  if (now !== undefined) shownTo = now;
});

// The files of a page are gone after an upgrade: the page is loaded anew, once. While the service is away they are only out of reach, and a
// reload would lose what was typed.
addEventListener('vite:preloadError', () => void reloadAfterUpgrade());
async function reloadAfterUpgrade(): Promise<void> {
  const last = Number(sessionStorage.getItem('reloaded-at') ?? 0);
  if (Date.now() - last < 60_000) return;
  const answer = await fetch('/healthz').catch(() => undefined);
  if (answer?.ok !== true) return;
  sessionStorage.setItem('reloaded-at', String(Date.now()));
  location.reload();
}

keepFocus();
const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <MantineProvider theme={theme} defaultColorScheme="auto">
    <QueryClientProvider client={queries}>
      <RouterProvider router={createConsoleRouter()} />
      <Overlays />
    </QueryClientProvider>
  </MantineProvider>,
);
void session.resume();
