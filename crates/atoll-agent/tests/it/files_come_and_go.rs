//! Files over HTTP: bytes with ranges and tags, lists of any length, changes, forms.

use atoll_client::{Client, ListFiles, ReadFile, WriteFile};
use atoll_protocol::{ErrorCode, FromToRequest, MakeDirectoryRequest, ModeRequest, SymlinkRequest, WriteFileRequest};
use bytes::Bytes;
use http::Request;

use crate::harness::{run, soon};
use crate::raw::{ask, get, post};

async fn read(client: &Client, path: &str) -> Bytes {
    soon(soon(client.read_file(path, &ReadFile::default())).await.unwrap().collect()).await.unwrap()
}

fn tag(headers: &http::HeaderMap) -> String {
    headers["etag"].to_str().unwrap().to_owned()
}

#[test]
fn content_has_ranges_and_tags() {
    run(async |f| {
        let socket = f.socket();
        let put = Request::put("/v1/files/content?path=digits");
        let made = ask(&socket, put, "0123456789").await;
        assert_eq!((made.status.as_u16(), made.json()["created"].as_bool()), (201, Some(true)));
        let content = "/v1/files/content?path=/workspace/digits";
        let whole = ask(&socket, get(content), "").await;
        assert_eq!((whole.status.as_u16(), &whole.body[..]), (200, &b"0123456789"[..]));
        assert_eq!(tag(&whole.headers), tag(&made.headers));
        assert_eq!(whole.headers["content-length"], "10");
        assert!(whole.headers.contains_key("last-modified"));
        let part = |range: &str| ask(&socket, get(content).header("range", range), "");
        let middle = part("bytes=2-4").await;
        assert_eq!((middle.status.as_u16(), &middle.body[..]), (206, &b"234"[..]));
        assert_eq!(middle.headers["content-range"], "bytes 2-4/10");
        assert_eq!(&part("bytes=-3").await.body[..], b"789");
        assert_eq!(&part("bytes=8-").await.body[..], b"89");
        let beyond = part("bytes=10-").await;
        assert_eq!(beyond.headers["content-range"], "bytes */10");
        assert_eq!(beyond.refusal().1, "RANGE_NOT_SATISFIABLE");
        let known = get(content).header("if-none-match", tag(&whole.headers));
        assert_eq!(ask(&socket, known, "").await.status.as_u16(), 304);
        let other = get(content).header("if-match", "\"other\"");
        assert_eq!(ask(&socket, other, "").await.refusal().1, "PRECONDITION_FAILED");
        let stale = get(content).header("range", "bytes=2-4").header("if-range", "\"other\"");
        assert_eq!(ask(&socket, stale, "").await.status.as_u16(), 200);
        let head = ask(&socket, Request::head(content), "").await;
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
        assert_eq!((head.headers["content-length"].to_str().unwrap(), tag(&head.headers)), ("10", tag(&whole.headers)));
    });
}

#[test]
fn states_decide_who_writes() {
    run(async |f| {
        let new = WriteFile { if_absent: true, ..WriteFile::default() };
        let first = soon(f.client.write_file("it", "1", &new)).await.unwrap();
        assert!(first.created && first.atomic);
        let again = soon(f.client.write_file("it", "2", &new)).await.unwrap_err();
        assert_eq!(again.code(), Some(ErrorCode::PreconditionFailed));
        let on_first = WriteFile { if_match: Some(first.file.etag.clone()), ..WriteFile::default() };
        let second = soon(f.client.write_file("it", "2", &on_first)).await.unwrap();
        assert_ne!(second.file.etag, first.file.etag);
        let late = soon(f.client.write_file("it", "3", &on_first)).await.unwrap_err();
        assert_eq!(late.code(), Some(ErrorCode::PreconditionFailed));
        assert_eq!(read(&f.client, "it").await, "2");
    });
}

#[test]
fn bodies_are_raw_text_or_base64() {
    run(async |f| {
        let socket = f.socket();
        let text = WriteFileRequest {
            path: Some("a/b.txt".to_owned()),
            data: "grüße".to_owned(),
            parents: true,
            mode: Some("0750".to_owned()),
            ..WriteFileRequest::default()
        };
        let written = soon(f.client.write_text_file(&text)).await.unwrap();
        assert_eq!((written.file.mode.as_str(), written.file.size), ("0750", 7));
        let read = ask(&socket, get("/v1/files/content?path=a/b.txt&encoding=utf8"), "").await.json();
        assert_eq!((&read["data"], &read["file"]["path"]), (&"grüße".into(), &"a/b.txt".into()));
        let bytes = r#"{"path_base64":"ZmlsZf8=","data":"/wA=","encoding":"base64"}"#;
        assert_eq!(ask(&socket, post("/v1/files/write"), bytes).await.json()["file"]["path_base64"], "ZmlsZf8=");
        let read = ask(&socket, get("/v1/files/content?path=file%ff&encoding=base64"), "").await.json();
        assert_eq!((read["data"].as_str(), read["replaced"].as_bool()), (Some("/wA="), Some(false)));
        let read = ask(&socket, get("/v1/files/content?path=file%ff&encoding=utf8"), "").await.json();
        assert_eq!(read["replaced"], true);
        for wrong in [r#"{"data":"x"}"#, r#"{"path":"a","path_base64":"YQ==","data":"x"}"#, r#"{"path":"a"}"#] {
            assert_eq!(ask(&socket, post("/v1/files/write"), wrong).await.refusal().1, "VALIDATION_FAILED");
        }
    });
}

#[test]
fn large_files_stream_both_ways() {
    run(async |f| {
        let piece = Bytes::from((0..=255).cycle().take(1024 * 1024).collect::<Vec<u8>>());
        let pieces = futures_util::stream::iter((0..48).map({
            let piece = piece.clone();
            move |_| Ok(piece.clone())
        }));
        let written = soon(f.client.stream_file("large", pieces, &WriteFile::default())).await.unwrap();
        assert_eq!(written.file.size, 48 * 1024 * 1024);
        let mut bytes = soon(f.client.read_file("large", &ReadFile::default())).await.unwrap();
        assert_eq!(bytes.length(), Some(48 * 1024 * 1024));
        let mut at = 0;
        while let Some(got) = soon(bytes.next()).await.unwrap() {
            for (offset, byte) in got.iter().enumerate() {
                assert_eq!(usize::from(*byte), (at + offset) % 256);
            }
            at += got.len();
        }
        assert_eq!(at, 48 * 1024 * 1024);
    });
}

#[test]
fn lists_page_and_stream() {
    run(async |f| {
        let make = "mkdir many; cd many; seq -f %05g 5000 | xargs touch; mkdir sub; touch sub/in";
        soon(f.client.exec(&atoll_protocol::ExecRequest::shell(make))).await.unwrap();
        let mut names = Vec::new();
        let mut what = ListFiles { limit: Some(700), depth: 2, ..ListFiles::default() };
        loop {
            let page = soon(f.client.list_files("many", &what)).await.unwrap();
            names.extend(page.entries.into_iter().map(|entry| entry.path));
            match page.next {
                Some(next) => what.after = Some(next),
                None => break,
            }
        }
        assert_eq!(names.len(), 5002);
        assert!(names.is_sorted());
        let all = ListFiles { depth: 2, ..ListFiles::default() };
        let mut stream = soon(f.client.stream_files("many", &all)).await.unwrap();
        let mut streamed = Vec::new();
        while let Some(entry) = soon(stream.next()).await.unwrap() {
            streamed.push(entry.path);
        }
        assert_eq!(streamed, names);
        assert_eq!(stream.end().unwrap().next, None);
        for (query, why) in
            [("limit=0", "limit"), ("depth=0", "depth"), ("sorted=false", "sorted"), ("after=!", "after")]
        {
            let refused = ask(&f.socket(), get(&format!("/v1/files/list?path=many&{query}")), "").await.refusal();
            assert_eq!((refused.0, refused.2.contains(why)), (400, true), "{refused:?}");
        }
    });
}

#[test]
fn changes_are_made() {
    run(async |f| {
        let client = &f.client;
        let some = |text: &str| Some(text.to_owned());
        let make = MakeDirectoryRequest { path: some("a/b"), parents: true, ..MakeDirectoryRequest::default() };
        assert!(soon(client.make_directory(&make)).await.unwrap().created);
        soon(client.write_file("a/b/c", "x", &WriteFile::default())).await.unwrap();
        let copy = FromToRequest { from: some("a"), to: some("d"), recursive: true, ..FromToRequest::default() };
        assert_eq!(soon(client.copy_file(&copy)).await.unwrap().count, 3);
        let rename = FromToRequest { from: some("d/b/c"), to: some("d/b/e"), ..FromToRequest::default() };
        assert_eq!(soon(client.rename_file(&rename)).await.unwrap().path, "d/b/e");
        let away = FromToRequest { from: some("d"), to: some("/dev/shm/d"), ..FromToRequest::default() };
        assert_eq!(soon(client.rename_file(&away)).await.unwrap_err().code(), Some(ErrorCode::CrossDevice));
        soon(client.move_file(&away)).await.unwrap();
        assert_eq!(read(client, "/dev/shm/d/b/e").await, "x");
        let mode = ModeRequest { path: some("a"), mode: "0700".to_owned(), recursive: true, ..ModeRequest::default() };
        assert_eq!(soon(client.set_file_mode(&mode)).await.unwrap().count, 3);
        let link = SymlinkRequest { path: some("l"), target: some("a/b/c"), ..SymlinkRequest::default() };
        assert_eq!(soon(client.make_symlink(&link)).await.unwrap().target.as_deref(), Some("a/b/c"));
        assert_eq!(soon(client.stat_file("l", None)).await.unwrap().mode, "0700");
        assert!(soon(client.file_exists("l")).await.unwrap().exists);
        assert_eq!(soon(client.remove_file("a", true, None)).await.unwrap().count, 3);
        assert!(!soon(client.file_exists("l")).await.unwrap().exists);
        assert!(!soon(client.file_exists("l/x/y")).await.unwrap().exists);
        assert_eq!(soon(client.remove_file("a", true, None)).await.unwrap_err().code(), Some(ErrorCode::FileNotFound));
    });
}

#[test]
fn a_form_brings_many_files() {
    run(async |f| {
        let part = |name: &str, file: &str, text: &str| {
            format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n\r\n{text}\r\n")
        };
        let form = |parts: &[String]| format!("{}--x--\r\n", parts.concat());
        let post =
            || Request::post("/v1/files/upload?path=up").header("content-type", "multipart/form-data; boundary=x");
        let large = "y".repeat(3_000_000);
        let good =
            form(&[part("file", "a.txt", "one"), part("file", "d/e.txt", &large), part("file_base64", "/w==", "")]);
        let receipt = ask(&f.socket(), post(), good).await.json();
        assert_eq!(receipt["files"].as_array().map(Vec::len), Some(3));
        assert_eq!(receipt["files"][2]["file"]["path_base64"], "dXAv/w==");
        assert_eq!(read(&f.client, "up/a.txt").await, "one");
        assert_eq!(read(&f.client, "up/d/e.txt").await.len(), 3_000_000);
        let nowhere =
            crate::raw::post("/v1/files/upload?path=").header("content-type", "multipart/form-data; boundary=x");
        let nowhere = ask(&f.socket(), nowhere, form(&[part("file", "a.txt", "one")])).await;
        assert_eq!(nowhere.refusal().1, "VALIDATION_FAILED");
        let none = ask(&f.socket(), post(), form(&[])).await;
        assert_eq!(none.refusal().1, "VALIDATION_FAILED");
        for bad in ["../out", "/etc/x", "a/../../b", ""] {
            let answer = ask(&f.socket(), post(), form(&[part("file", bad, "x")])).await;
            assert_eq!(answer.refusal().0, 400, "{bad}");
        }
        let half = ask(&f.socket(), post(), form(&[part("file", "b", "1"), part("file", "d", "2")])).await;
        assert_eq!(
            (half.refusal().1.as_str(), &half.json()["error"]["details"]["written"]),
            ("IS_DIRECTORY", &1.into())
        );
        let other = ask(&f.socket(), crate::raw::post("/v1/files/upload?path=up"), "x").await;
        assert_eq!(other.refusal().1, "UNSUPPORTED_MEDIA_TYPE");
    });
}

#[test]
fn a_client_brings_many_small_files() {
    run(async |f| {
        let names: Vec<Vec<u8>> =
            (0..500).map(|n| format!("d{}/\"odd\" {n}\n", n % 7).into_bytes()).chain([b"\xff".to_vec()]).collect();
        let files = names.clone().into_iter().map(|path| {
            let bytes = Bytes::from(path.clone());
            Ok(atoll_client::NewFile { path, bytes })
        });
        let files = futures_util::stream::iter(files);
        let receipt = soon(f.client.upload_files("many", files, None)).await.unwrap();
        assert_eq!(receipt.files.len(), names.len());
        for name in [&names[0], &names[499], &names[500]] {
            let path = [b"many/", &name[..]].concat();
            let bytes = soon(f.client.read_file(path, &ReadFile::default())).await.unwrap().collect().await.unwrap();
            assert_eq!(bytes, name);
        }
        // One that cannot be read here ends it: the files before it are written.
        let broken = futures_util::stream::iter([
            Ok(atoll_client::NewFile { path: b"one".to_vec(), bytes: Bytes::from_static(b"1") }),
            Err(std::io::Error::other("the disk is gone")),
        ]);
        soon(f.client.upload_files("half", broken, None)).await.unwrap_err();
    });
}

#[test]
fn what_is_not_in_an_archive_is_told_before_it_begins() {
    use atoll_client::PackFiles;
    use atoll_protocol::ArchiveFormat;
    run(async |f| {
        let make = "mkdir -p tree/sub; echo x > tree/sub/file; mkfifo 'tree/a fifo,' tree/sub/fifo";
        soon(f.client.exec(&atoll_protocol::ExecRequest::shell(make))).await.unwrap();
        let pack = |format| PackFiles { format, ..PackFiles::default() };
        let whole = soon(f.client.pack_files("tree", &pack(ArchiveFormat::Tar))).await.unwrap();
        assert_eq!(whole.omitted(), atoll_protocol::Omitted::default(), "a tar has a place for pipes");
        let zip = soon(f.client.pack_files("tree", &pack(ArchiveFormat::Zip))).await.unwrap();
        let omitted = zip.omitted();
        let names: Vec<&str> = omitted.first.iter().map(|path| path.path.as_str()).collect();
        assert_eq!((omitted.count, &names[..]), (2, &["a fifo,", "sub/fifo"][..]));
        assert!(soon(zip.collect()).await.unwrap().starts_with(b"PK"));
        let missing = soon(f.client.pack_files("gone", &pack(ArchiveFormat::Zip))).await.unwrap_err();
        assert_eq!(missing.code(), Some(ErrorCode::FileNotFound));
    });
}

#[test]
fn refusals_name_the_path() {
    run(async |f| {
        let missing = ask(&f.socket(), get("/v1/files/content?path=no%ffwhere"), "").await;
        let (status, code, message) = missing.refusal();
        assert_eq!((status, code.as_str()), (404, "FILE_NOT_FOUND"));
        assert!(message.contains("/workspace/no"), "{message}");
        assert_eq!(missing.json()["error"]["details"]["path_base64"], "L3dvcmtzcGFjZS9ub/93aGVyZQ==");
        for (path, code) in [("/", "IS_DIRECTORY"), ("/dev/null", "NOT_REGULAR_FILE"), ("", "VALIDATION_FAILED")] {
            let refused = ask(&f.socket(), get(&format!("/v1/files/content?path={path}")), "").await.refusal();
            assert_eq!(refused.1, code, "{path}");
        }
        for query in ["", "?path=a&path=b", "?path=a&color=red", "?path=a&encoding=latin1"] {
            let refused = ask(&f.socket(), get(&format!("/v1/files/content{query}")), "").await.refusal();
            assert_eq!(refused.1, "VALIDATION_FAILED", "{query}");
        }
        let refused = ask(&f.socket(), Request::put("/v1/files/content?path=a&mode=999"), "x").await.refusal();
        assert_eq!(refused.1, "VALIDATION_FAILED");
        let early = vec![b'x'; 10_000_000];
        let refused =
            soon(f.client.write_file("/proc/1/nothing/here", early, &WriteFile::default())).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::FileNotFound));
    });
}
