import { Menu, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useUser } from '../session/use-session.ts';
import { AccountLabel } from './account-label.tsx';
import { signOut } from './sign-out.tsx';

/** Open to begin with: its button was pressed before it was loaded. */
export function AccountMenu() {
  const user = useUser();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const target = useRef<HTMLButtonElement>(null);
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    // The pressed button is gone: this one has the focus in its place, also when the menu closes.
    target.current?.focus();
    setOpened(true);
  }, []);
  return (
    <Menu position="bottom-end" width={240} opened={opened} onChange={setOpened}>
      <Menu.Target>
        <AccountLabel ref={target} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.name === '' ? user.email : `${user.name}, ${user.email}`}, {user.role}
        </Menu.Label>
        <Menu.Label>Theme</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} rightSection={colorScheme === scheme ? '✓' : undefined}>
            {{ light: 'Light', dark: 'Dark', auto: 'As the system' }[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href="/docs">
          API documentation
        </Menu.Item>
        <Menu.Item component={Link} to="/try">
          Try the API
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
        <Menu.Item onClick={() => void signOut(true)}>Sign out everywhere</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
