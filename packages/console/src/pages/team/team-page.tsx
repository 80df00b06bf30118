import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../components/page.tsx';
import { ApiTokens } from './api-tokens.tsx';
import { OwnSignIn } from './own-sign-in.tsx';
import { SignInMethods } from './sign-in-methods.tsx';
import { Users } from './users.tsx';

const TABS = { users: 'Users', tokens: 'API tokens', 'sign-in': 'Sign-in' } as const;

export function TeamPage() {
  const { tab } = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const shown = tab !== undefined && Object.hasOwn(TABS, tab) ? tab : 'users';
  return (
    <Page title="Team" about="Who can sign in, and which machines may call the API.">
      <Tabs
        value={shown}
        onChange={(next) => void navigate({ to: '/team', search: next === 'users' || next === null ? {} : { tab: next } })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {Object.entries(TABS).map(([key, label]) => (
            <Tabs.Tab key={key} value={key}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="users">
          <Users />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <ApiTokens />
        </Tabs.Panel>
        <Tabs.Panel value="sign-in">
          <SignInMethods />
          <OwnSignIn />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
