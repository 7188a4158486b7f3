//! The HTTP types of this server: hyper's, with a body that is either whole or a stream.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

pub(crate) type Request = http::Request<Incoming>;
pub(crate) type Response = http::Response<Body>;

pub(crate) enum Body {
    Whole(Bytes),
    Stream(BoxStream<'static, Bytes>),
    /// Whole, perhaps with trailers.
    Answer(Bytes, Option<Box<HeaderMap>>),
    /// A stream that may end with trailers.
    Frames(BoxStream<'static, Frame<Bytes>>),
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(stream) => {
                stream.as_mut().poll_next(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
            }
            Self::Answer(bytes, trailers) if bytes.is_empty() => {
                Poll::Ready(trailers.take().map(|trailers| Ok(Frame::trailers(*trailers))))
            }
            Self::Answer(bytes, _) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Frames(frames) => frames.as_mut().poll_next(context).map(|frame| frame.map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(_) | Self::Answer(..) | Self::Frames(_) => SizeHint::default(),
        }
    }
}

impl<B: Into<Bytes>> From<B> for Body {
    fn from(bytes: B) -> Self {
        Self::Whole(bytes.into())
    }
}
