"""`engram tls`: certificates for a companion in a network of one's own."""

from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.cli import output
from engram_host.cli.options import HOME, JSON, Context, takes

if TYPE_CHECKING:
    from engram_host.companion.auth.certificates import Issued, TlsFiles
    from engram_host.companion.settings import Settings

FOLDER = "tls"
"""Of the companion's folder."""

Names = Annotated[
    list[str] | None,
    typer.Argument(help="host names and addresses under which boards reach the companion; default: as the last time"),
]


@takes(HOME, JSON)
def tls(context: Context, names: Names = None) -> None:
    """Make a private authority, a certificate of the companion and the roots.pem of boards. Run it again to renew.

    Example: engram tls 192.168.1.10 companion.lan
    """
    from engram_host.companion.auth.certificates import TlsFiles, issue_certificate
    from engram_host.companion.settings import make_folder, read_settings

    settings = read_settings(context.home, {})
    make_folder(context.home)
    files = TlsFiles(context.home / FOLDER)
    issued = issue_certificate(files, names or [])
    if context.json:
        output.print_json(
            {
                "certificate": str(files.certificate),
                "key": str(files.key),
                "authority": str(files.authority),
                "roots": str(files.roots),
                "names": issued.names,
                "ends": issued.ends,
                "new_authority": issued.is_new_authority,
            }
        )
        return
    _show(files, issued, settings)


def _show(files: "TlsFiles", issued: "Issued", settings: "Settings") -> None:
    output.print_line(f"A certificate for {', '.join(issued.names)}, until {output.format_time(issued.ends)[:10]}.")
    if not issued.is_new_authority:
        output.print_line("Restart the companion to use it. Boards that trust the authority need nothing new.")
        return
    lines = f'certificate = "{FOLDER}/{files.certificate.name}"\nkey = "{FOLDER}/{files.key.name}"'
    name = issued.names[0]
    host = f"[{name}]" if ":" in name else name
    typer.echo(f"\nIn companion.toml:\n\n[http]\n{lines}\n\n[mqtt]\n{lines}\n")
    typer.echo(f"On each board {files.roots} has to be the file roots.pem:\n\n  mpremote cp {files.roots} :roots.pem\n")
    urls = f"mqtts://{host}:{settings.mqtt.port} or https://{host}:{settings.http.port}"
    typer.echo(f"and companion.url is {urls}.\n\nKeep {files.authority_key} to yourself:")
    typer.echo("whoever has it can pretend to be any service that these boards use.")
