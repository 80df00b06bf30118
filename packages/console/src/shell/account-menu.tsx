import { Button, Menu, useMantineColorScheme } from '@mantine/core';
import { session } from '../session/session.ts';
import { useUser } from '../session/use-session.ts';
import classes from './shell.module.css';

export function AccountMenu() {
  const user = useUser();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="default">
          {user.name === '' ? user.email.split('@', 1)[0] : user.name}
          <span className={classes.role}>{`\u00a0· ${user.role}`}</span>
          {'\u00a0▾'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.email}, {user.role}
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
        <Menu.Item onClick={() => void session.signOut()}>Sign out</Menu.Item>
        <Menu.Item onClick={() => void session.signOut(true)}>Sign out everywhere</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
